import { randomBytes } from 'node:crypto'
import type { Test } from 'tap'
import { type NewPlace, openMany, runCase } from '../place.ts'
import { hour, mixedIds, newSigningKey, now, orderedIds, plain } from '../samples.ts'

/** The contract of SigningKeyStore: how signing keys are kept. */
export function runSigningKeyContract(t: Test, newPlace: NewPlace): void {
  runCase(
    t,
    newPlace,
    'signing keys are listed as they were added, oldest first',
    async (t, _place, store) => {
      const keys = [
        newSigningKey({ createdAt: now }),
        newSigningKey({ createdAt: now + 2, signsFrom: now + hour, algorithm: 'RS256' }),
        newSigningKey({ createdAt: now + 1, publicKey: undefined, algorithm: 'HS256' }),
      ]
      for (const key of keys) t.equal(await store.addSigningKey(key), true)
      t.strictSame(plain(await store.listSigningKeys()), plain([keys[0], keys[2], keys[1]]))
    },
  )

  runCase(t, newPlace, 'a signing key is resealed once, and keeps all else', async (t, _place, store) => {
    const [key, other] = [newSigningKey({ signsFrom: Number.MAX_SAFE_INTEGER }), newSigningKey()]
    for (const each of [key, other]) await store.addSigningKey(each)
    const before = await store.listSigningKeys()
    const reseal = { before: key.sealed, after: randomBytes(90) }
    t.equal(await store.resealSigningKey(other.kid, reseal), false, 'another key')
    t.equal(await store.resealSigningKey('none', reseal), false)
    t.equal(await store.resealSigningKey(key.kid, reseal), true)
    t.equal(await store.resealSigningKey(key.kid, reseal), false, 'it is sealed otherwise now')
    const after = before.map((each) => (each.kid === key.kid ? { ...each, sealed: reseal.after } : each))
    t.strictSame(plain(await store.listSigningKeys()), plain(after))
  })

  runCase(t, newPlace, 'a signing key is retired once', async (t, _place, store) => {
    const [kept, gone] = [newSigningKey(), newSigningKey()]
    await store.addSigningKey(kept)
    await store.addSigningKey(gone)
    t.equal(await store.retireSigningKey(gone.kid), true)
    t.equal(await store.retireSigningKey(gone.kid), false)
    t.strictSame(plain(await store.listSigningKeys()), plain([kept]))
  })

  runCase(
    t,
    newPlace,
    'a first signing key is added only if its algorithm has none',
    async (t, _place, store) => {
      const first = newSigningKey({ signsFrom: now + hour })
      const second = newSigningKey()
      const other = newSigningKey({ algorithm: 'EdDSA' })
      t.equal(await store.addSigningKey(first, { onlyIfNoSigner: true }), true)
      t.equal(
        await store.addSigningKey(second, { onlyIfNoSigner: true }),
        false,
        'one that will sign is there',
      )
      t.equal(await store.addSigningKey(other, { onlyIfNoSigner: true }), true)
      t.equal((await store.listSigningKeys()).length, 2)
      t.equal(await store.addSigningKey(second), true, 'unless it is wanted beside')
      await store.retireSigningKey(first.kid)
      await store.retireSigningKey(second.kid)
      t.equal(await store.addSigningKey(newSigningKey(), { onlyIfNoSigner: true }), true)
    },
  )

  runCase(
    t,
    newPlace,
    'of many that add the first signing key at once exactly one succeeds',
    async (t, place, store) => {
      const stores = await openMany(place, 8)
      const keys = stores.map(() => newSigningKey())
      const added = await Promise.all(
        keys.map((key, index) => stores[index]?.addSigningKey(key, { onlyIfNoSigner: true })),
      )
      t.equal(added.filter((isAdded) => isAdded).length, 1)
      t.strictSame(plain(await store.listSigningKeys()), plain([keys[added.indexOf(true)]]))
    },
  )

  runCase(
    t,
    newPlace,
    'of many that retire one signing key at once exactly one succeeds',
    async (t, place, store) => {
      const key = newSigningKey()
      await store.addSigningKey(key)
      const stores = await openMany(place, 8)
      const retired = await Promise.all(stores.map((each) => each.retireSigningKey(key.kid)))
      t.equal(retired.filter((isRetired) => isRetired).length, 1)
    },
  )

  runCase(
    t,
    newPlace,
    'signing keys of one moment are in the order of their IDs',
    async (t, _place, store) => {
      for (const kid of mixedIds) await store.addSigningKey(newSigningKey({ kid }))
      const listed = await store.listSigningKeys()
      t.strictSame(
        listed.map(({ kid }) => kid),
        orderedIds,
      )
    },
  )
}
