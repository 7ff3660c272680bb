import type { Test } from 'tap'
import type { PasskeyAddition } from '#store/portal.ts'
import { type Passkey, passkeysOf } from '#store/portal-access.ts'
import type { Store } from '#store/store.ts'
import { type NewPlace, openMany, runCase } from '../place.ts'
import { newPasskey } from '../portal-samples.ts'
import { createAccount, now } from '../samples.ts'

const passkeysMax = 3

function addition(challengeAt: number, passkey: Passkey = newPasskey()): PasskeyAddition {
  return { passkey, challengeAt, recoveryDigests: ['one', 'two'], passkeysMax }
}

/** An account with one passkey, whose challenge was made at `now`. */
async function createOwner(store: Store, over: Partial<Passkey> = {}) {
  const { id } = await createAccount(store)
  const passkey = newPasskey(over)
  await store.addPasskey(id, addition(now, passkey))
  const use = (challengeAt: number, counter = 0) =>
    store.usePasskey(id, { id: passkey.id, counter, challengeAt, now: challengeAt + 1 })
  const current = async () => (await store.findAccount(id))?.portal
  return { id, passkey, use, current }
}

/** Passkeys of accounts. */
export function passkeyCases(t: Test, newPlace: NewPlace): void {
  runCase(
    t,
    newPlace,
    'the first passkey is a second factor, and comes back as it was',
    async (t, place, store) => {
      const { id, passkey } = await createOwner(store)
      t.strictSame((await (await place.open()).findAccount(id))?.portal.secondFactor, {
        enabledAt: now,
        lastStep: 0,
        recoveryDigests: ['one', 'two'],
        passkeys: [passkey],
      })
      t.equal(await store.addPasskey(id, addition(now + 1, { ...passkey, name: 'again' })), 'exists')
      t.equal(await store.addPasskey('nobody', addition(now)), 'unknown')
    },
  )

  runCase(t, newPlace, 'an account has as many passkeys as it may, and no more', async (t, _place, store) => {
    const { id, current } = await createOwner(store)
    const add = (step: number) =>
      store.addPasskey(id, { ...addition(now + step), recoveryDigests: ['other'] })
    t.equal(await add(1), 'added')
    t.equal(await add(2), 'added', 'at the limit')
    t.equal(await add(3), 'too-many', 'one over')
    t.equal(await add(50), 'too-many', 'far over')
    const portal = await current()
    t.equal(portal && passkeysOf(portal).length, passkeysMax)
    t.strictSame(portal?.secondFactor?.recoveryDigests, ['one', 'two'], 'those of the first stay')
  })

  runCase(t, newPlace, 'a challenge is answered once, and none before it', async (t, _place, store) => {
    const { id, use, current } = await createOwner(store)
    t.equal(await use(now), 'replayed', 'that of the addition')
    t.equal(await use(now + 5), 'used')
    t.equal(await use(now + 5), 'replayed')
    t.equal(await use(now + 4), 'replayed')
    t.equal(await store.addPasskey(id, addition(now + 5)), 'replayed')
    const portal = await current()
    t.match(portal && passkeysOf(portal), [{ usedAt: now + 6 }])
    t.equal(await store.usePasskey(id, { id: 'other', counter: 0, challengeAt: now + 9, now }), 'unknown')
    t.equal(await store.usePasskey('nobody', { id: 'x', counter: 0, challengeAt: now, now }), 'unknown')
  })

  runCase(t, newPlace, 'a counter has to increase, where there is one', async (t, _place, store) => {
    const { use } = await createOwner(store, { counter: 7 })
    t.equal(await use(now + 1, 7), 'counter')
    t.equal(await use(now + 1, 6), 'counter')
    t.equal(await use(now + 1, 0), 'counter')
    t.equal(await use(now + 1, 8), 'used')
    t.equal(await use(now + 2, 8), 'counter')
    const other = await createOwner(store)
    t.equal(await other.use(now + 1, 0), 'used')
    t.equal(await other.use(now + 2, 0), 'used')
    t.equal(await other.use(now + 3, 1), 'used')
    t.equal(await other.use(now + 4, 0), 'counter')
  })

  runCase(
    t,
    newPlace,
    'of many that answer one challenge at once exactly one succeeds',
    async (t, place, store) => {
      const { id, passkey } = await createOwner(store)
      const stores = await openMany(place, 4)
      const use = { id: passkey.id, counter: 0, challengeAt: now + 1, now }
      const uses = Array.from({ length: 12 }, (_, index) => stores[index % 4]?.usePasskey(id, use))
      t.equal((await Promise.all(uses)).filter((outcome) => outcome === 'used').length, 1)
    },
  )

  runCase(
    t,
    newPlace,
    'a passkey is renamed, and the last one takes the recovery codes with it',
    async (t, _place, store) => {
      const { id, passkey, current } = await createOwner(store)
      t.equal(await store.changePasskey(id, { id: passkey.id, name: 'Phone' }), true)
      const renamed = await current()
      t.strictSame(renamed && passkeysOf(renamed), [{ ...passkey, name: 'Phone' }])
      t.equal(await store.changePasskey(id, { id: 'other', name: 'Phone' }), false)
      t.equal(await store.changePasskey('nobody', { id: passkey.id, name: undefined }), false)
      t.equal(await store.changePasskey(id, { id: passkey.id, name: undefined }), true)
      t.equal(await store.changePasskey(id, { id: passkey.id, name: undefined }), false)
      t.equal((await current())?.secondFactor, undefined)
      t.equal(await store.addPasskey(id, addition(now, passkey)), 'replayed', 'with the challenge of before')
      t.equal(await store.addPasskey(id, addition(now + 1, passkey)), 'added')
    },
  )

  runCase(
    t,
    newPlace,
    'an app and passkeys are added and removed beside each other',
    async (t, _place, store) => {
      const { id, passkey, current } = await createOwner(store)
      const app = { sealed: 'c2VhbGVk', enabledAt: now, lastStep: 9, recoveryDigests: ['new'] }
      t.equal(await store.disableSecondFactor(id, 'app'), false)
      t.equal(await store.enableSecondFactor(id, app), true)
      t.equal(await store.enableSecondFactor(id, app), false)
      t.match((await current())?.secondFactor, { ...app, passkeys: [passkey] })
      t.equal(await store.disableSecondFactor(id, 'app'), true)
      t.match((await current())?.secondFactor, { sealed: undefined, passkeys: [passkey] })
      t.equal(await store.enableSecondFactor(id, app), true)
      t.equal(await store.changePasskey(id, { id: passkey.id, name: undefined }), true)
      t.match((await current())?.secondFactor, app)
      t.equal(await store.disableSecondFactor(id, 'app'), true)
      t.equal((await current())?.secondFactor, undefined)
      await store.addPasskey(id, addition(now + 1))
      await store.enableSecondFactor(id, app)
      t.equal(await store.disableSecondFactor(id, 'all'), true)
      t.equal((await current())?.secondFactor, undefined)
    },
  )
}
