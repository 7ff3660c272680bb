import { DatabaseSync } from 'node:sqlite'
import t from 'tap'
import { backupText, fill, inOneBatch, restoreText } from '../backup-samples.ts'
import { createAccount } from '../samples.ts'
import { newSqlitePlace } from './place.ts'

/**
 * What a restored database has of its own: positions, its ID, which batches of usage were added within an hour, and what
 * receivers of events have got.
 */
const own = ['changes', 'store', 'usage_batches', 'event_receivers', 'audit_once', 'sqlite_sequence']

function rowsOf(path: string): Readonly<Record<string, readonly string[]>> {
  const database = new DatabaseSync(path)
  const names = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").all()
  const tables = names.map(({ name }) => String(name)).filter((name) => !own.includes(name))
  const rows = tables.map((name) => {
    const all = database.prepare(`SELECT * FROM ${name}`).all()
    return [name, all.map((row) => JSON.stringify(row)).toSorted()] as const
  })
  database.close()
  return Object.fromEntries(rows)
}

t.test('every column of every table is restored: one that is new belongs in a backup', async (t) => {
  const [source, target] = [await newSqlitePlace(t), await newSqlitePlace(t)]
  const store = await source.open()
  await fill(store)
  await restoreText(await target.open(), await backupText(store))
  const expected = rowsOf(source.path)
  for (const [name, rows] of Object.entries(expected)) t.not(rows.length, 0, `${name} has rows to compare`)
  t.strictSame(rowsOf(target.path), expected)
})

t.test('a record that comes twice is named, and nothing is restored', async (t) => {
  const store = await (await newSqlitePlace(t)).open()
  const twice = { kind: 'usagePrincipal', id: 'corp:1', day: 1 } as const
  await t.rejects(store.restore(inOneBatch([twice, twice])), {
    name: 'OperatorError',
    message: /records that exclude each other: .*usage_principals\.id/,
  })
  t.strictSame((await store.listUsagePrincipals(undefined)).ids, [])
})

t.test('a backup is as of its beginning, whatever is written meanwhile', async (t) => {
  const place = await newSqlitePlace(t)
  const store = await place.open()
  await createAccount(store)
  const batches = store.backUp()[Symbol.asyncIterator]()
  await batches.next()
  await createAccount(store)
  const accounts = await batches.next()
  t.equal(accounts.done ? 0 : accounts.value.length, 1)
  await batches.return?.()
})
