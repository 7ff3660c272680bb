import type { Test } from 'tap'
import type { SecondFactor } from '#store/portal-access.ts'
import { type NewPlace, openMany, runCase } from '../place.ts'
import { newAuditEntry } from '../portal-samples.ts'
import { createAccount, newKey, now, secretKeyOf } from '../samples.ts'

const factor = {
  sealed: 'c2VhbGVk',
  enabledAt: now,
  lastStep: 100,
  recoveryDigests: ['one', 'two'],
} satisfies SecondFactor

/** Second factors of accounts. */
export function secondFactorCases(t: Test, newPlace: NewPlace): void {
  runCase(
    t,
    newPlace,
    'a second factor is enabled once, and comes back as it was',
    async (t, place, store) => {
      const { id } = await createAccount(store)
      t.equal((await store.findAccount(id))?.portal.secondFactor, undefined)
      t.equal(await store.enableSecondFactor(id, factor), true)
      t.equal(await store.enableSecondFactor(id, { ...factor, sealed: 'other' }), false)
      const other = await place.open()
      t.strictSame((await other.findAccount(id))?.portal.secondFactor, factor)
      t.equal(await store.enableSecondFactor('nobody', factor), false)
    },
  )

  runCase(
    t,
    newPlace,
    'secrets of an account are resealed where they are as they were',
    async (t, place, store) => {
      const { id, apiKey, ...account } = await createAccount(store)
      await store.enableSecondFactor(id, factor)
      const secretKey = secretKeyOf(account)
      const after = (text: string) => Buffer.from(text)
      const reseals = [
        { before: apiKey.sealed ?? after(''), after: after('api') },
        { before: secretKey.sealed ?? after(''), after: after('secret') },
        { before: Buffer.from(factor.sealed, 'base64url'), after: after('factor') },
      ]
      t.equal(await store.resealAccount('nobody', reseals), false)
      t.equal(await store.resealAccount(id, [{ before: after('other'), after: after('x') }]), false)
      await store.resetApiKey(id, { apiKey: newKey({ sealed: after('meanwhile') }) })
      const entry = newAuditEntry({ action: 'sealing-key-rotated' })
      t.equal(await store.resealAccount(id, reseals, entry), true)
      t.equal(await store.resealAccount(id, reseals, entry), false, 'once')
      const found = await (await place.open()).findAccount(id)
      t.equal(Buffer.from(found?.apiKey.sealed ?? '').toString(), 'meanwhile', 'a newer key is left alone')
      t.equal(Buffer.from(secretKeyOf(found).sealed ?? '').toString(), 'secret')
      t.strictSame(secretKeyOf(found).digest, secretKey.digest)
      t.strictSame(found?.portal.secondFactor, {
        ...factor,
        sealed: after('factor').toString('base64url'),
      })
    },
  )

  runCase(
    t,
    newPlace,
    'a code is used once, and none of an earlier step after it',
    async (t, _place, store) => {
      const { id } = await createAccount(store)
      const use = (step: number) => store.useSecondFactor(id, { kind: 'step', step })
      t.equal(await use(101), false, 'without a second factor')
      await store.enableSecondFactor(id, factor)
      t.equal(await use(100), false)
      t.equal(await use(99), false)
      t.equal(await use(101), true)
      t.equal(await use(101), false)
      t.equal(await use(103), true)
      t.equal(await use(102), false)
      t.match((await store.findAccount(id))?.portal.secondFactor, { lastStep: 103 })
    },
  )

  runCase(t, newPlace, 'of many that use one code at once exactly one succeeds', async (t, place, store) => {
    const { id } = await createAccount(store)
    await store.enableSecondFactor(id, factor)
    const stores = await openMany(place, 4)
    const useAll = (use: Parameters<typeof store.useSecondFactor>[1]) =>
      Promise.all(Array.from({ length: 12 }, (_, index) => stores[index % 4]?.useSecondFactor(id, use)))
    t.equal((await useAll({ kind: 'step', step: 101 })).filter(Boolean).length, 1)
    t.equal((await useAll({ kind: 'recovery', digest: 'one' })).filter(Boolean).length, 1)
  })

  runCase(
    t,
    newPlace,
    'recovery codes are used once each, and replaced together',
    async (t, _place, store) => {
      const { id } = await createAccount(store)
      const use = (digest: string) => store.useSecondFactor(id, { kind: 'recovery', digest })
      t.equal(await store.setRecoveryCodes(id, ['x']), false, 'without a second factor')
      await store.enableSecondFactor(id, factor)
      t.equal(await use('three'), false)
      t.equal(await use('one'), true)
      t.equal(await use('one'), false)
      t.equal(await store.setRecoveryCodes(id, ['three']), true)
      t.equal(await use('two'), false)
      t.equal(await use('three'), true)
      t.strictSame((await store.findAccount(id))?.portal.secondFactor?.recoveryDigests, [])
    },
  )

  runCase(
    t,
    newPlace,
    'a second factor is disabled once, and a new one may follow',
    async (t, _place, store) => {
      const { id } = await createAccount(store)
      t.equal(await store.disableSecondFactor(id, 'all'), false)
      await store.enableSecondFactor(id, factor)
      t.equal(await store.disableSecondFactor(id, 'all'), true)
      t.equal(await store.disableSecondFactor(id, 'all'), false)
      t.equal((await store.findAccount(id))?.portal.secondFactor, undefined)
      t.equal(await store.enableSecondFactor(id, factor), true)
      t.equal(await store.disableSecondFactor('nobody', 'all'), false)
    },
  )
}
