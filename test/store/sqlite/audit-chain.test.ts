import { DatabaseSync } from 'node:sqlite'
import t from 'tap'
import { verifyAudit } from '#accounts/verify-audit.ts'
import { auditRetention } from '#store/audit.ts'
import { newAuditEntry } from '../portal-samples.ts'
import { withoutSecretKeyList } from './earlier-schema.ts'
import { newSqlitePlace } from './place.ts'

const actor = { kind: 'account', channel: 'portal', id: 'a', email: 'a@x', address: '::1' } as const
const own = newAuditEntry({ actor, target: { id: 'a', email: 'a@x' } })

async function openWith(t: Parameters<typeof newSqlitePlace>[0], count: number) {
  const { path, open } = await newSqlitePlace(t)
  const store = await open()
  for (let index = 0; index < count; index++) await store.appendAudit(newAuditEntry())
  const database = new DatabaseSync(path)
  t.teardown(() => database.close())
  return { store, database, open }
}

for (const [does, sql, position] of [
  ['the first entry is removed', 'DELETE FROM audit WHERE seq = 1', '2'],
  ['an entry in the middle is removed', 'DELETE FROM audit WHERE seq = 3', '4'],
  ['the last entry is removed', 'DELETE FROM audit WHERE seq = 5', '4'],
  ['all entries are removed', 'DELETE FROM audit', undefined],
  [
    'an entry is changed',
    "UPDATE audit SET entry = replace(entry, 'User', 'user') || ' ' WHERE seq = 2",
    '2',
  ],
  ['an entry is moved to the other chain', "UPDATE audit SET class = 'own' WHERE seq = 2", '3'],
  [
    'an entry is inserted',
    "UPDATE audit SET seq = 9 WHERE seq = 5; INSERT INTO audit VALUES (6, '{}', 'acts', '')",
    '6',
  ],
] as const) {
  t.test(`verification of the audit log on SQLite shows that ${does}`, async (t) => {
    const { store, database } = await openWith(t, 5)
    t.strictSame(await verifyAudit(store), { kind: 'intact', entries: 5, unchained: 0 })
    database.exec(sql)
    t.match(await verifyAudit(store), { kind: 'broken', position })
  })
}

t.test("acts on one's own account remove no entry of other acts, however many", async (t) => {
  const { store, database } = await openWith(t, 5)
  // As if both were full.
  database.exec(`UPDATE audit_chains SET entries = ${auditRetention.entries}`)
  for (let index = 0; index < 10; index++) await store.appendAudit(own)
  const count = (name: string) =>
    Number(database.prepare('SELECT count(*) AS n FROM audit WHERE class = ?').get(name)?.n)
  t.equal(count('acts'), 5)
  await store.appendAudit(newAuditEntry())
  t.equal(count('acts'), 5, 'the oldest act has gone for the new one')
  t.match(await verifyAudit(store), { kind: 'intact' }, 'what was trimmed is accounted for')
})

t.test('entries that are too old go with the next of their kind', async (t) => {
  const { store, open } = await openWith(t, 0)
  const now = Date.now()
  await store.appendAudit(newAuditEntry({ at: now - auditRetention.ageMs - 1 }))
  await store.appendAudit(newAuditEntry({ at: now - auditRetention.ageMs + 60_000 }))
  await store.appendAudit(newAuditEntry({ at: now }))
  t.strictSame(await verifyAudit(store), { kind: 'intact', entries: 2, unchained: 0 })
  t.strictSame(await verifyAudit(await open()), { kind: 'intact', entries: 2, unchained: 0 })
})

t.test('entries of an earlier version are the beginning of the chains', async (t) => {
  const { path, open } = await newSqlitePlace(t)
  const before = await open()
  for (let index = 0; index < 1_203; index++)
    await before.appendAudit(index % 3 === 0 ? own : newAuditEntry())
  await before.close()
  const database = new DatabaseSync(path)
  database.exec(`DROP INDEX audit_by_class; ALTER TABLE audit DROP COLUMN class;
    ALTER TABLE audit DROP COLUMN link; DROP TABLE audit_chains; DROP TABLE usage; DROP TABLE usage_batches;
    ALTER TABLE sessions DROP COLUMN acknowledged_at; ${withoutSecretKeyList}; PRAGMA user_version = 6`)
  database.close()
  const store = await open()
  await store.appendAudit(own)
  t.strictSame(await verifyAudit(store), { kind: 'intact', entries: 1_204, unchained: 0 })
})
