import type { Test } from 'tap'
import { digestText } from '../../../src/platform/digest-text.ts'
import type { Account, StoredKey } from '../../../src/store/account.ts'
import type { RecordedKeyUse } from '../../../src/store/keys.ts'
import type { Store } from '../../../src/store/store.ts'
import { type NewPlace, runCase } from '../place.ts'
import { createAccount, hour, newKey, now } from '../samples.ts'

function useOf(
  { id: accountId }: Account,
  key: Pick<StoredKey, 'digest'>,
  changes: Partial<RecordedKeyUse> = {},
) {
  const use = { at: now, address: '192.0.2.1', scheme: 'secretKey' } as const
  return { accountId, digest: digestText(key), ...use, ...changes }
}

async function usesOf(store: Store, { id }: Account): Promise<unknown> {
  return Object.fromEntries(await store.findKeyUses(id))
}

/** How the last uses of keys are kept. */
export function keyUseCases(t: Test, newPlace: NewPlace): void {
  runCase(
    t,
    newPlace,
    'the latest use of each key is kept, in whatever order they come',
    async (t, _place, store) => {
      const account = await createAccount(store)
      const [secret, api] = [digestText(account.secretKey), digestText(account.apiKey)]
      t.strictSame(await usesOf(store, account), {})
      const last = { at: now + 5, address: '2001:db8::9', scheme: 'accessToken' } as const
      await store.recordKeyUses([
        useOf(account, account.secretKey),
        useOf(account, account.apiKey, { scheme: 'accessToken' }),
      ])
      await store.recordKeyUses([useOf(account, account.secretKey, last)])
      await store.recordKeyUses([useOf(account, account.secretKey, { at: now + 4 })])
      t.strictSame(await usesOf(store, account), {
        [secret]: last,
        [api]: { at: now, address: '192.0.2.1', scheme: 'accessToken' },
      })
    },
  )

  runCase(t, newPlace, 'no use is kept of a key that is gone', async (t, _place, store) => {
    const account = await createAccount(store)
    await store.recordKeyUses([useOf(account, account.secretKey), useOf(account, newKey())])
    t.equal((await store.findKeyUses(account.id)).size, 1)
    const next = newKey()
    await store.resetSecretKey(account.id, { secretKey: next, graceUntil: now + hour })
    await store.recordKeyUses([useOf(account, next), useOf(account, account.secretKey, { at: now + 1 })])
    t.equal((await store.findKeyUses(account.id)).size, 2, 'both keys of an overlap have theirs')
    t.equal(await store.endOverlap(account.id, now), true)
    await store.recordKeyUses([useOf(account, next, { at: now + 2 })])
    t.strictSame([...(await store.findKeyUses(account.id)).keys()], [digestText(next)])
    await store.deleteAccount(account.id)
    await store.recordKeyUses([useOf(account, next, { at: now + 3 })])
    t.equal((await store.findKeyUses(account.id)).size, 0)
  })

  runCase(t, newPlace, 'an overlap is ended once', async (t, _place, store) => {
    const account = await createAccount(store)
    t.equal(await store.endOverlap(account.id, now), false)
    await store.resetSecretKey(account.id, { secretKey: newKey(), graceUntil: now + hour })
    t.equal(await store.endOverlap(account.id, now + hour), false, 'it is over by itself')
    t.equal(await store.endOverlap(account.id, now + hour - 1), true)
    t.equal((await store.findAccount(account.id))?.previousSecretKey, undefined)
    t.equal(await store.endOverlap(account.id, now), false)
    t.equal(await store.endOverlap('nobody', now), false)
  })

  runCase(t, newPlace, 'a thousand uses are noted as easily as none', async (t, _place, store) => {
    const accounts = await Promise.all(Array.from({ length: 10 }, () => createAccount(store)))
    await store.recordKeyUses([])
    await store.recordKeyUses(
      Array.from({ length: 1_000 }, (_, index) => {
        const account = accounts[index % 10]
        if (!account) throw new Error('no account')
        return useOf(account, account.secretKey, { at: now + index })
      }),
    )
    for (const [index, account] of accounts.entries()) {
      t.match([...(await store.findKeyUses(account.id)).values()], [{ at: now + 990 + index }])
    }
  })
}
