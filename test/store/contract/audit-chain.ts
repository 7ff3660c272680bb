import type { Test } from 'tap'
import { verifyAudit } from '#accounts/verify-audit.ts'
import type { AuditEntry } from '#store/audit-entry.ts'
import type { Store } from '#store/store.ts'
import { type NewPlace, openMany, runCase } from '../place.ts'
import { newAuditEntry } from '../portal-samples.ts'
import { createAccount } from '../samples.ts'

const own = (at: number): AuditEntry =>
  newAuditEntry({
    at,
    action: 'account-updated',
    actor: { kind: 'account', channel: 'portal', id: 'a', email: 'a@example.com', address: '192.0.2.7' },
    target: { id: 'a', email: 'a@example.com' },
  })

/** How entries of the audit log follow from each other. */
export function auditChainCases(t: Test, newPlace: NewPlace): void {
  runCase(
    t,
    newPlace,
    'an audit log verifies, empty and with entries of both kinds',
    async (t, place, store) => {
      t.strictSame(await verifyAudit(store), { kind: 'intact', entries: 0, unchained: 0 })
      const stores = await openMany(place, 3)
      await Promise.all(
        Array.from({ length: 30 }, (_, index) =>
          stores[index % 3]?.appendAudit(
            index % 2 === 0 ? own(Date.now()) : newAuditEntry({ at: Date.now() }),
          ),
        ),
      )
      await createAccount(store)
      t.strictSame(await verifyAudit(store), { kind: 'intact', entries: 30, unchained: 0 })
      t.equal((await entriesOf(store, 'own')).length, 15)
      t.equal((await entriesOf(store, 'acts')).length, 15)
      const all = { filter: { action: undefined, who: undefined }, before: undefined, limit: 100 }
      t.equal((await store.findAudit(all)).entries.length, 30, 'and both are read as one log')
    },
  )

  runCase(t, newPlace, 'each audit entry is reported once it is written', async (t, _place, store) => {
    const notified: AuditEntry[] = []
    store.onAudit((entry) => notified.push(entry))
    const account = await createAccount(store)
    const entry = newAuditEntry({ at: 1 })
    await store.updateAccount(account.id, { role: 'Admin' }, entry)
    await store.updateAccount('nobody', { role: 'Admin' }, newAuditEntry({ at: 2 }))
    const appended = own(3)
    await store.appendAudit(appended)
    t.strictSame(notified, [entry, appended])
  })
}

async function entriesOf(store: Store, name: 'own' | 'acts') {
  return store.readAuditChain({ class: name, after: undefined, limit: 1_000 })
}
