import type { Test } from 'tap'
import { type Account, isActiveAdmin } from '#store/accounts.ts'
import type { Actor, AuditEntry } from '#store/audit-entry.ts'
import type { Store } from '#store/store.ts'
import { type NewPlace, openMany, runCase } from '../place.ts'
import { listAudit } from '../portal-samples.ts'
import { createAccount, now } from '../samples.ts'

/** What takes an Admin away. @returns whether it did */
const takings: Readonly<Record<string, (store: Store, id: string, audit: AuditEntry) => Promise<boolean>>> = {
  demoting: async (store, id, audit) =>
    (await store.updateAccount(id, { role: 'User' }, audit)).kind === 'updated',
  disabling: async (store, id, audit) =>
    (await store.updateAccount(id, { isDisabled: true }, audit)).kind === 'updated',
  deleting: async (store, id, audit) => (await store.deleteAccount(id, audit)) === 'deleted',
}
const takingNames = Object.keys(takings)

/** Of accounts: a store that has an Admin who is not disabled always keeps one. */
export function lastAdminCases(t: Test, newPlace: NewPlace): void {
  for (const [name, take] of Object.entries(takings)) {
    runCase(t, newPlace, `${name} the last Admin is refused, and changes nothing`, async (t, _, store) => {
      const admin = await createAccount(store, { role: 'Admin' })
      await createAccount(store, { role: 'Admin', isDisabled: true })
      const user = await createAccount(store)
      t.equal(await take(store, admin.id, entryBy('operator', admin)), false)
      t.match(await store.findAccount(admin.id), { role: 'Admin', isDisabled: false, revision: 1 })
      t.strictSame(await listAudit(store, { before: undefined, limit: 10 }), [])
      t.equal(await take(store, user.id, entryBy('operator', user)), true, 'any other account can be')
      const other = await createAccount(store, { role: 'Admin' })
      t.equal(await take(store, admin.id, entryBy('operator', admin)), true, 'and an Admin beside another')
      t.ok(isActiveAdmin((await store.findAccount(other.id)) ?? user))
    })
  }

  runCase(t, newPlace, 'the last Admin can be changed otherwise', async (t, _, store) => {
    const { id } = await createAccount(store, { role: 'Admin' })
    t.equal(
      (await store.updateAccount(id, { role: 'Admin', isDisabled: false, firstName: 'A' })).kind,
      'updated',
    )
    t.equal(await store.endSessions(id), true)
  })

  runCase(t, newPlace, 'where no Admin is left none is needed', async (t, _, store) => {
    const { id } = await createAccount(store, { role: 'Admin', isDisabled: true })
    t.equal((await store.updateAccount(id, { role: 'User' })).kind, 'updated')
    t.equal(await store.deleteAccount(id), 'deleted')
  })

  runCase(t, newPlace, 'of Admins who take each other away at once one is left', async (t, place) => {
    const stores = await openMany(place, 2)
    const [store] = stores as readonly [Store, Store]
    let seed = 1
    const next = (below: number) => {
      seed = (seed * 48_271) % 2_147_483_647
      return seed % below
    }
    let survivor: Account | undefined
    for (let round = 0; round < 60; round++) {
      const made = await Promise.all(
        Array.from({ length: round % 3 === 0 ? 3 : 2 }, () => createAccount(store, { role: 'Admin' })),
      )
      // The one that the last round has left is no Admin of this one.
      if (survivor) await store.deleteAccount(survivor.id)
      const tries = made.map(async (by, index) => {
        const target = made[(index + 1) % made.length] ?? by
        const take = takings[takingNames[next(takingNames.length)] ?? ''] ?? takings.deleting
        const from = stores[round % 2 === 0 ? index % 2 : 0] ?? store
        return take?.(from, target.id, entryBy(round % 4 < 2 ? by : 'operator', target))
      })
      const done = (await Promise.all(tries)).filter(Boolean).length
      const left = (await Promise.all(made.map(({ id }) => store.findAccount(id)))).filter(
        (one) => one !== undefined && isActiveAdmin(one),
      )
      t.equal(left.length, made.length - done)
      t.equal(left.length, 1, `round ${round}: exactly one is left`)
      survivor = left[0]
    }
  })
}

function entryBy(by: Account | 'operator', { id, email }: Account): AuditEntry {
  const actor: Actor =
    by === 'operator'
      ? { kind: 'operator', channel: 'cli', name: 'root' }
      : { kind: 'account', channel: 'api', id: by.id, email: by.email, address: '192.0.2.7' }
  return { at: now, actor, action: 'account-updated', target: { id, email }, details: {} }
}
