import { DatabaseSync } from 'node:sqlite'
import t from 'tap'
import {
  accountColumns,
  hasSameIndexes,
  indexedColumns,
  toAccount,
  toAccountRow,
} from '#store/sqlite/rows.ts'
import { newAccount, newKey, plain } from '../samples.ts'
import { newSqlitePlace } from './place.ts'

const account = newAccount({ plan: 'free', managedBy: 'team-a', apiKey: newKey({ lastFour: 'aB12' }) })

t.test('the columns are those of the table, and each one in an index is known as such', async (t) => {
  const { path, open } = await newSqlitePlace(t)
  await open()
  const database = new DatabaseSync(path)
  t.teardown(() => database.close())
  const namesIn = (sql: string) =>
    database
      .prepare(sql)
      .all()
      .map(({ name }) => String(name))
  t.strictSame(
    namesIn("SELECT name FROM pragma_table_info('accounts')").toSorted(),
    accountColumns.toSorted(),
  )
  const indexes = "pragma_index_list('accounts') AS list"
  const listed = namesIn(`SELECT info.name FROM ${indexes}, pragma_index_info(list.name) AS info`)
  // An index also depends on the columns of its condition.
  const conditions = namesIn(
    "SELECT substr(sql, instr(sql, ' WHERE ')) AS name FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'accounts' AND sql LIKE '% WHERE %'",
  ).join()
  const conditional = accountColumns.filter((column) => new RegExp(`\\b${column}\\b`).test(conditions))
  t.strictSame([...new Set([...listed, ...conditional])].toSorted(), [...indexedColumns].toSorted())
})

t.test('a change of an indexed column is noticed, one of any other is not', (t) => {
  const before = toAccountRow(account)
  for (const changes of [
    { email: 'other@example.com' },
    { firstName: 'Other' },
    { lastName: 'Other' },
    { role: 'Other' },
    { isDisabled: true },
    { isVerified: false },
    { createdAt: account.createdAt + 1 },
    { plan: undefined },
    { email: account.email.toUpperCase() },
    { managedBy: 'team-b' },
    { revision: 2 },
  ]) {
    const changed = { ...account, ...changes }
    const row = toAccountRow(changed)
    const columns = accountColumns.filter((column) => row[column] !== before[column])
    const expected = !columns.some((column) => indexedColumns.has(column))
    t.equal(hasSameIndexes(account, changed), expected, JSON.stringify(changes))
  }
  t.end()
})

t.test('a row without its digest is a fault, and no account with an empty one', (t) => {
  const row = toAccountRow(account)
  t.strictSame(plain(toAccount(row)), plain(account))
  for (const value of [null, 'text']) t.throws(() => toAccount({ ...row, api_digest: value }), TypeError)
  t.throws(() => toAccount({ ...row, api_sealed: 'text' }), TypeError)
  t.equal(toAccount({ ...row, api_sealed: null }).apiKey.sealed, undefined)
  t.end()
})
