import type { Test } from 'tap'
import { portalSessionsMax } from '#store/portal.ts'
import { type NewPlace, runCase } from '../place.ts'
import { newPortalSession, startPortalSession } from '../portal-samples.ts'
import { createAccount, hour, mixedIds, now, orderedIds } from '../samples.ts'
import { passkeyCases } from './passkeys.ts'
import { portalIdentityCases } from './portal-identities.ts'
import { portalPasswordCases } from './portal-passwords.ts'
import { secondFactorCases } from './second-factors.ts'

/** The contract of PortalStore: passwords, links and the sessions of browsers. */
export function runPortalContract(t: Test, newPlace: NewPlace): void {
  portalPasswordCases(t, newPlace)
  portalIdentityCases(t, newPlace)
  secondFactorCases(t, newPlace)
  passkeyCases(t, newPlace)

  runCase(t, newPlace, 'a portal session is found as it was started', async (t, _place, store) => {
    const account = await createAccount(store)
    const session = await startPortalSession(store, account)
    const found = { ...session, seenAt: now, epoch: 1 }
    t.strictSame(await store.findPortalSession(account.id, session.id), found)
    t.strictSame(await store.listPortalSessions(account.id, now), [found])
    t.equal(await store.findPortalSession(account.id, 'none'), undefined)
    t.equal(await store.findPortalSession('nobody', session.id), undefined)
  })

  runCase(
    t,
    newPlace,
    'no portal session starts for an account that has changed or is disabled',
    async (t, _place, store) => {
      const account = await createAccount(store)
      await store.updateAccount(account.id, { firstName: 'B' })
      t.equal(await store.startPortalSession(newPortalSession(account), account), 'account-changed')
      const disabled = await createAccount(store, { isDisabled: true })
      t.equal(await store.startPortalSession(newPortalSession(disabled), disabled), 'account-changed')
      const nobody = { id: 'nobody', revision: 1 }
      t.equal(await store.startPortalSession(newPortalSession(nobody), nobody), 'account-changed')
    },
  )

  runCase(
    t,
    newPlace,
    'the last use of a portal session is recorded until it ends',
    async (t, _place, store) => {
      const account = await createAccount(store)
      const { id } = await startPortalSession(store, account)
      const seen = { address: '2001:db8::1', userAgent: 'curl {"a":1} 8' }
      await store.touchPortalSession(account.id, id, { at: now + 60_000, ...seen })
      t.match(await store.findPortalSession(account.id, id), { seenAt: now + 60_000, epoch: 1, ...seen })
      await store.endPortalSession(account.id, id)
      await store.touchPortalSession(account.id, id, { at: now + 120_000, ...seen })
      t.equal(await store.findPortalSession(account.id, id), undefined)
    },
  )

  runCase(
    t,
    newPlace,
    'portal sessions are listed until they end, newest first',
    async (t, _place, store) => {
      const account = await createAccount(store)
      const start = (createdAt: number, expiresAt: number) =>
        startPortalSession(store, account, { createdAt, expiresAt })
      const first = await start(now, now + hour)
      const second = await start(now + 1, now + 2 * hour)
      const ids = async (at: number) => (await store.listPortalSessions(account.id, at)).map(({ id }) => id)
      t.strictSame(await ids(now + hour - 1), [second.id, first.id])
      t.strictSame(await ids(now + hour), [second.id])
      t.strictSame(await store.listPortalSessions('nobody', now), [])
    },
  )

  runCase(t, newPlace, 'one portal session or all of an account can be ended', async (t, _place, store) => {
    const account = await createAccount(store)
    const other = await createAccount(store)
    const [one, two] = [await startPortalSession(store, account), await startPortalSession(store, account)]
    await startPortalSession(store, other)
    t.equal(await store.endPortalSession(other.id, one.id), false)
    t.equal(await store.endPortalSession(account.id, one.id), true)
    t.equal(await store.endPortalSession(account.id, one.id), false)
    t.strictSame(
      (await store.listPortalSessions(account.id, now)).map(({ id }) => id),
      [two.id],
    )
    t.equal(await store.endPortalSessions(account.id), true)
    t.strictSame(await store.listPortalSessions(account.id, now), [])
    t.equal((await store.listPortalSessions(other.id, now)).length, 1)
    t.equal(await store.endPortalSessions('nobody'), false)
  })

  runCase(
    t,
    newPlace,
    'disabling or deleting an account ends its portal sessions',
    async (t, _place, store) => {
      const account = await createAccount(store)
      const { id } = await startPortalSession(store, account)
      await store.updateAccount(account.id, { isDisabled: true })
      t.strictSame(await store.listPortalSessions(account.id, now), [])
      await store.updateAccount(account.id, { isDisabled: false })
      t.strictSame(await store.listPortalSessions(account.id, now), [], 'enabling brings none back')
      await store.deleteAccount(account.id)
      t.equal(await store.findPortalSession(account.id, id), undefined)
    },
  )

  runCase(t, newPlace, 'beyond the limit the oldest portal session ends', async (t, _place, store) => {
    const account = await createAccount(store)
    const starts = Array.from({ length: portalSessionsMax + 1 }, (_, index) => now + index)
    const ids: string[] = []
    for (const createdAt of starts) {
      ids.push((await startPortalSession(store, account, { createdAt })).id)
      if (ids.length === portalSessionsMax) {
        t.equal((await store.listPortalSessions(account.id, now)).length, portalSessionsMax)
      }
    }
    const left = (await store.listPortalSessions(account.id, now)).map(({ id }) => id)
    t.strictSame(left, ids.slice(1).toReversed())
  })

  runCase(
    t,
    newPlace,
    'portal sessions of one moment are in the order of their IDs',
    async (t, _place, store) => {
      const account = await createAccount(store)
      for (const id of mixedIds) await startPortalSession(store, account, { id })
      const listed = await store.listPortalSessions(account.id, now)
      t.strictSame(
        listed.map(({ id }) => id),
        orderedIds,
      )
    },
  )
}
