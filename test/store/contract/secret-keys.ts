import type { Test } from 'tap'
import { type NewPlace, openMany, runCase } from '../place.ts'
import {
  createAccount,
  hour,
  newSecretKey,
  now,
  plain,
  secretKeyOf,
  startSession,
  useOf,
} from '../samples.ts'

const revocation = { name: 'ci', now, graceUntil: undefined }

/** The contract of KeyStore for several secret keys of an account. */
export function secretKeyCases(t: Test, newPlace: NewPlace): void {
  runCase(
    t,
    newPlace,
    'a key is added beside the others, under a name of its own',
    async (t, _place, store) => {
      const account = await createAccount(store)
      const ci = newSecretKey({
        name: 'ci',
        scopes: ['orders:read'],
        addresses: ['10.0.0.0/8'],
        quota: { id: 'aB3dE6fG', limit: 1_000, per: 'day' },
        expiresAt: now + hour,
      })
      t.equal(await store.addSecretKey(account.id, { secretKey: ci, keysMax: 2 }), 'added')
      const expected = { ...account, secretKeys: [...account.secretKeys, ci], revision: 2 }
      t.strictSame(plain(await store.findAccount(account.id)), plain(expected))
      const again = newSecretKey({ name: 'ci' })
      t.equal(await store.addSecretKey(account.id, { secretKey: again, keysMax: 20 }), 'exists')
      const third = newSecretKey({ name: 'third' })
      t.equal(await store.addSecretKey(account.id, { secretKey: third, keysMax: 2 }), 'too-many')
      t.equal(await store.addSecretKey(account.id, { secretKey: third, keysMax: 3 }), 'added')
      t.equal(await store.addSecretKey('nobody', { secretKey: third, keysMax: 3 }), 'unknown')
    },
  )

  runCase(
    t,
    newPlace,
    'a key is replaced by one of its name, and no other is touched',
    async (t, _place, store) => {
      const account = await createAccount(store)
      const [ci, other] = [newSecretKey({ name: 'ci' }), newSecretKey({ name: 'other', lastFour: 'aB12' })]
      for (const secretKey of [ci, other]) await store.addSecretKey(account.id, { secretKey, keysMax: 4 })
      const next = newSecretKey({ name: 'ci', lastFour: 'cD34' })
      const reset = { secretKey: next, graceUntil: now + hour, replaces: ci.digest }
      const after = await store.resetSecretKey(account.id, reset)
      const replaced = { ...ci, sealed: undefined, revokedAt: now + hour }
      const expected = [...account.secretKeys, replaced, { ...next, id: ci.id }, other]
      t.strictSame(plain(after?.secretKeys), plain(expected))
      t.strictSame(plain((await store.findAccount(account.id))?.secretKeys), plain(expected))
      t.equal(await store.resetSecretKey(account.id, reset), undefined, 'it is not that one any more')
    },
  )

  runCase(
    t,
    newPlace,
    'a key gets other limits with its own digest, and so does the one within an overlap',
    async (t, _place, store) => {
      const account = await createAccount(store)
      const [old, other] = [newSecretKey({ name: 'ci' }), newSecretKey({ name: 'other' })]
      for (const secretKey of [old, other]) await store.addSecretKey(account.id, { secretKey, keysMax: 4 })
      const ci = newSecretKey({ name: 'ci', id: old.id })
      await store.resetSecretKey(account.id, { secretKey: ci, graceUntil: now + hour })
      const limits = { id: 'anotherI', scopes: ['a'], addresses: ['10.0.0.0/8'], expiresAt: now + hour }
      const limited = { ...ci, ...limits }
      const reset = { secretKey: limited, graceUntil: undefined, replaces: ci.digest }
      const after = await store.resetSecretKey(account.id, reset)
      const overlapping = { ...old, ...limits, sealed: undefined, revokedAt: now + hour }
      t.strictSame(plain(after?.secretKeys), plain([...account.secretKeys, overlapping, limited, other]))
      t.strictSame(plain((await store.findAccount(account.id))?.secretKeys), plain(after?.secretKeys))
      t.equal(after?.sessionEpoch, account.sessionEpoch, 'sessions of other keys go on')
    },
  )

  runCase(t, newPlace, 'a key gets another name, unless another has it', async (t, _place, store) => {
    const account = await createAccount(store)
    const ci = newSecretKey({ name: 'ci' })
    await store.addSecretKey(account.id, { secretKey: ci, keysMax: 4 })
    t.equal(await store.renameSecretKey(account.id, { name: 'ci', to: 'default' }), 'exists')
    t.equal(await store.renameSecretKey(account.id, { name: 'cd', to: 'x' }), 'unknown')
    t.equal(await store.renameSecretKey('nobody', { name: 'ci', to: 'x' }), 'unknown')
    t.equal(await store.renameSecretKey(account.id, { name: 'ci', to: 'deploy' }), 'renamed')
    const found = await store.findAccount(account.id)
    t.strictSame(plain(found?.secretKeys), plain([...account.secretKeys, { ...ci, name: 'deploy' }]))
    t.equal(found?.sessionEpoch, account.sessionEpoch, 'its sessions go on')
  })

  runCase(t, newPlace, 'of many keys added at once none is lost', async (t, place, store) => {
    const account = await createAccount(store)
    const stores = await openMany(place, 4)
    const added = await Promise.all(
      stores.map((each, index) =>
        each.addSecretKey(account.id, { secretKey: newSecretKey({ name: `key${index}` }), keysMax: 4 }),
      ),
    )
    t.strictSame(added.toSorted(), ['added', 'added', 'added', 'too-many'])
    t.equal((await store.findAccount(account.id))?.secretKeys.length, 4)
  })

  runCase(t, newPlace, 'one key alone is revoked where its digest is named', async (t, _place, store) => {
    const account = await createAccount(store)
    const ci = newSecretKey({ name: 'ci' })
    await store.addSecretKey(account.id, { secretKey: ci, keysMax: 4 })
    await store.revokeSecretKey(account.id, { ...revocation, graceUntil: now + hour })
    const next = newSecretKey({ name: 'ci' })
    t.equal(await store.addSecretKey(account.id, { secretKey: next, keysMax: 4 }), 'added')
    const after = await store.revokeSecretKey(account.id, { ...revocation, only: ci.digest })
    t.strictSame(plain(after?.secretKeys), plain([...account.secretKeys, next]))
    const again = await store.revokeSecretKey(account.id, { ...revocation, only: ci.digest })
    t.equal(again, undefined, 'it is gone')
  })

  runCase(
    t,
    newPlace,
    'a revoked key leaves the others and their sessions alone',
    async (t, _place, store) => {
      const account = await createAccount(store)
      const [ci, other] = [newSecretKey({ name: 'ci' }), newSecretKey({ name: 'other' })]
      for (const secretKey of [ci, other]) await store.addSecretKey(account.id, { secretKey, keysMax: 20 })
      const before = await store.findAccount(account.id)
      if (!before) throw new Error('no account')
      const sessions = await Promise.all(
        before.secretKeys.map(({ id: keyId }) => startSession(store, before, { keyId })),
      )
      const after = await store.revokeSecretKey(account.id, revocation)
      t.strictSame(plain(after?.secretKeys), plain([...account.secretKeys, other]))
      t.equal(after?.sessionEpoch, before.sessionEpoch)
      const [first, second, third] = sessions
      if (!first || !second || !third) throw new Error('no sessions')
      t.match(await store.rotateSession(useOf(first)), { kind: 'current' })
      t.strictSame(await store.rotateSession(useOf(second)), { kind: 'over', reason: 'revoked' })
      t.match(await store.rotateSession(useOf(third)), { kind: 'current' })
      t.equal(await store.revokeSecretKey(account.id, revocation), undefined, 'it is gone')
    },
  )

  runCase(t, newPlace, 'a key revoked with an overlap works until its end', async (t, _place, store) => {
    const account = await createAccount(store)
    const ci = newSecretKey({ name: 'ci' })
    await store.addSecretKey(account.id, { secretKey: ci, keysMax: 20 })
    const found = await store.findAccount(account.id)
    if (!found) throw new Error('no account')
    const session = await startSession(store, found, { keyId: ci.id })
    const graceUntil = now + hour
    const after = await store.revokeSecretKey(account.id, { ...revocation, graceUntil })
    t.match(after?.secretKeys, [{ name: 'default' }, { name: 'ci', revokedAt: graceUntil }])
    const use = (at: number, generation: number) => useOf(session, { now: at, generation, idleMs: 2 * hour })
    t.match(await store.rotateSession(use(graceUntil - 1, 1)), { kind: 'current' })
    t.strictSame(await store.rotateSession(use(graceUntil, 2)), { kind: 'over', reason: 'revoked' })
    const replaced = newSecretKey({ name: 'ci' })
    t.equal(
      await store.addSecretKey(account.id, { secretKey: replaced, keysMax: 2 }),
      'added',
      'its name is free',
    )
    const later = await store.revokeSecretKey(account.id, { ...revocation, graceUntil: graceUntil + 1 })
    t.match(later?.secretKeys, [{}, { revokedAt: graceUntil }, { revokedAt: graceUntil + 1 }])
    const none = await store.revokeSecretKey(account.id, revocation)
    t.match(none?.secretKeys, { length: 1 }, 'both at once')
  })

  runCase(t, newPlace, 'sessions of an expired key are over', async (t, _place, store) => {
    const account = await createAccount(store)
    const ci = newSecretKey({ name: 'ci', expiresAt: now + hour })
    await store.addSecretKey(account.id, { secretKey: ci, keysMax: 20 })
    const found = await store.findAccount(account.id)
    if (!found) throw new Error('no account')
    const session = await startSession(store, found, { keyId: ci.id })
    const use = (at: number, generation: number) => useOf(session, { now: at, generation, idleMs: 2 * hour })
    t.match(await store.rotateSession(use(now + hour - 1, 1)), { kind: 'current' })
    t.strictSame(await store.rotateSession(use(now + hour, 2)), { kind: 'over', reason: 'expired' })
  })

  runCase(
    t,
    newPlace,
    'the default key may be revoked, and made again by a reset',
    async (t, _place, store) => {
      const account = await createAccount(store)
      const session = await startSession(store, account)
      const after = await store.revokeSecretKey(account.id, { ...revocation, name: 'default' })
      t.match(after, { secretKeys: { length: 0 }, sessionEpoch: 2 })
      t.match((await store.findAccount(account.id))?.secretKeys, { length: 0 })
      t.strictSame(await store.rotateSession(useOf(session)), { kind: 'over', reason: 'revoked' })
      const secretKey = newSecretKey()
      const reset = await store.resetSecretKey(account.id, { secretKey, graceUntil: now + hour })
      t.strictSame(plain(secretKeyOf(reset)), plain(secretKey))
    },
  )

  runCase(t, newPlace, 'a reset ends the sessions of the default key alone', async (t, _place, store) => {
    const account = await createAccount(store)
    const ci = newSecretKey({ name: 'ci' })
    await store.addSecretKey(account.id, { secretKey: ci, keysMax: 20 })
    const found = await store.findAccount(account.id)
    if (!found) throw new Error('no account')
    const [own, others] = [
      await startSession(store, found),
      await startSession(store, found, { keyId: ci.id }),
    ]
    await store.resetSecretKey(account.id, { secretKey: newSecretKey(), graceUntil: undefined })
    t.strictSame(await store.rotateSession(useOf(own)), { kind: 'over', reason: 'revoked' })
    t.match(await store.rotateSession(useOf(others)), { kind: 'current' })
  })
}
