import type { Test } from 'tap'
import type { Account } from '#store/accounts.ts'
import { digestText, type RecordedKeyUse } from '#store/keys.ts'
import type { StoredKey } from '#store/secret-keys.ts'
import type { Store } from '#store/store.ts'
import { type NewPlace, openMany, runCase } from '../place.ts'
import {
  createAccount,
  hour,
  newKey,
  newSecretKey,
  now,
  overlapOf,
  plain,
  second,
  secretKeyOf,
} from '../samples.ts'
import { secretKeyCases } from './secret-keys.ts'

function keyUseOf(
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

/** The contract of KeyStore: how keys are reset, and when each was last used. */
export function runKeyContract(t: Test, newPlace: NewPlace): void {
  secretKeyCases(t, newPlace)
  runCase(
    t,
    newPlace,
    'of many that replace the same key at once exactly one succeeds',
    async (t, place, store) => {
      const account = await createAccount(store)
      const stores = await openMany(place, 4)
      const reset = () => ({
        secretKey: newSecretKey(),
        graceUntil: now + hour,
        replaces: secretKeyOf(account).digest,
      })
      const resets = await Promise.all(stores.map((each) => each.resetSecretKey(account.id, reset())))
      t.equal(resets.filter((each) => each !== undefined).length, 1)
      const after = await store.findAccount(account.id)
      t.strictSame(
        plain(overlapOf(after)?.digest),
        plain(secretKeyOf(account).digest),
        'the old key works on',
      )
      const replaces = account.apiKey.digest
      const others = stores.map((each) => each.resetApiKey(account.id, { apiKey: newKey(), replaces }))
      t.equal((await Promise.all(others)).filter((each) => each !== undefined).length, 1)
      t.equal((await store.findAccount(account.id))?.revision, 3)
      t.equal((await store.resetApiKey(account.id, { apiKey: newKey() }))?.revision, 4, 'whichever it is')
    },
  )

  runCase(t, newPlace, 'a new API key replaces the old and nothing else', async (t, _place, store) => {
    const account = await createAccount(store)
    const apiKey = newKey({ createdAt: now + 1 })
    const expected = { ...account, apiKey, revision: 2 }
    t.strictSame(plain(await store.resetApiKey(account.id, { apiKey })), plain(expected))
    t.strictSame(plain(await store.findAccount(account.id)), plain(expected))
    const unsealed = newKey({ sealed: undefined })
    await store.resetApiKey(account.id, { apiKey: unsealed })
    t.equal((await store.findAccount(account.id))?.apiKey.sealed, undefined)
  })

  runCase(
    t,
    newPlace,
    'a reset with grace keeps the last key until the grace ends',
    async (t, _place, store) => {
      const account = await createAccount(store)
      const keys = [secretKeyOf(account), newSecretKey(), newSecretKey(), newSecretKey()] as const
      await store.resetSecretKey(account.id, { secretKey: keys[1], graceUntil: now + 1 })
      const once = await store.findAccount(account.id)
      t.strictSame(plain(secretKeyOf(once)), plain({ ...keys[1], id: keys[0].id }), 'the sessions go on')
      t.strictSame(plain(overlapOf(once)), plain({ digest: keys[0].digest, validUntil: now + 1 }))
      const twice = await store.resetSecretKey(account.id, { secretKey: keys[2], graceUntil: now + 2 })
      t.strictSame(plain(overlapOf(twice)), plain({ digest: keys[1].digest, validUntil: now + 2 }))
      t.strictSame(plain(await store.findAccount(account.id)), plain(twice))
      const strict = await store.resetSecretKey(account.id, { secretKey: keys[3], graceUntil: undefined })
      t.equal(overlapOf(strict), undefined)
      t.match(await store.findAccount(account.id), {
        revision: 4,
        sessionEpoch: 2,
        secretKeys: { length: 1 },
      })
    },
  )

  runCase(
    t,
    newPlace,
    'an unrelated change of the account keeps the grace of a reset',
    async (t, _place, store) => {
      const account = await createAccount(store)
      await store.resetSecretKey(account.id, { secretKey: newSecretKey(), graceUntil: now + second })
      await store.updateAccount(account.id, { firstName: 'Grace' })
      const found = await store.findAccount(account.id)
      t.strictSame(
        plain(overlapOf(found)),
        plain({ digest: secretKeyOf(account).digest, validUntil: now + second }),
      )
    },
  )

  runCase(
    t,
    newPlace,
    'the latest use of each key is kept, in whatever order uses come',
    async (t, _place, store) => {
      const account = await createAccount(store)
      const [secret, api] = [digestText(secretKeyOf(account)), digestText(account.apiKey)]
      t.strictSame(await usesOf(store, account), {})
      const last = { at: now + 5, address: '2001:db8::9', scheme: 'accessToken' } as const
      await store.recordKeyUses([
        keyUseOf(account, secretKeyOf(account)),
        keyUseOf(account, account.apiKey, { scheme: 'accessToken' }),
      ])
      await store.recordKeyUses([keyUseOf(account, secretKeyOf(account), last)])
      await store.recordKeyUses([keyUseOf(account, secretKeyOf(account), { at: now + 4 })])
      t.strictSame(await usesOf(store, account), {
        [secret]: last,
        [api]: { at: now, address: '192.0.2.1', scheme: 'accessToken' },
      })
    },
  )

  runCase(t, newPlace, 'no use is kept of a deleted key', async (t, _place, store) => {
    const account = await createAccount(store)
    await store.recordKeyUses([keyUseOf(account, secretKeyOf(account)), keyUseOf(account, newKey())])
    t.equal((await store.findKeyUses(account.id)).size, 1)
    const next = newSecretKey()
    await store.resetSecretKey(account.id, { secretKey: next, graceUntil: now + hour })
    await store.recordKeyUses([
      keyUseOf(account, next),
      keyUseOf(account, secretKeyOf(account), { at: now + 1 }),
    ])
    t.equal((await store.findKeyUses(account.id)).size, 2, 'both keys of an overlap have theirs')
    t.equal(await store.endOverlap(account.id, now), true)
    await store.recordKeyUses([keyUseOf(account, next, { at: now + 2 })])
    t.strictSame([...(await store.findKeyUses(account.id)).keys()], [digestText(next)])
    await store.deleteAccount(account.id)
    await store.recordKeyUses([keyUseOf(account, next, { at: now + 3 })])
    t.equal((await store.findKeyUses(account.id)).size, 0)
  })

  runCase(t, newPlace, 'the overlap of two keys is ended once', async (t, _place, store) => {
    const account = await createAccount(store)
    t.equal(await store.endOverlap(account.id, now), false)
    await store.resetSecretKey(account.id, { secretKey: newSecretKey(), graceUntil: now + hour })
    t.equal(await store.endOverlap(account.id, now + hour), false, 'it has already expired')
    t.equal(await store.endOverlap(account.id, now + hour - 1), true)
    t.equal(overlapOf(await store.findAccount(account.id)), undefined)
    t.equal(await store.endOverlap(account.id, now), false)
    t.equal(await store.endOverlap('nobody', now), false)
  })

  runCase(
    t,
    newPlace,
    'any number of key uses is recorded, from none to a thousand',
    async (t, _place, store) => {
      const accounts = await Promise.all(Array.from({ length: 10 }, () => createAccount(store)))
      await store.recordKeyUses([])
      await store.recordKeyUses(
        Array.from({ length: 1_000 }, (_, index) => {
          const account = accounts[index % 10]
          if (!account) throw new Error('no account')
          return keyUseOf(account, secretKeyOf(account), { at: now + index })
        }),
      )
      for (const [index, account] of accounts.entries()) {
        t.match([...(await store.findKeyUses(account.id)).values()], [{ at: now + 990 + index }])
      }
    },
  )
}
