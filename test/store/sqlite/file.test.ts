import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t, { type Test } from 'tap'
import { OperatorError } from '#platform/errors/operator-error.ts'
import { openSqliteStore } from '#store/sqlite/store.ts'
import { createAccount } from '../samples.ts'

const dir = mkdtempSync(join(tmpdir(), 'gatehouse-sqlite-'))
t.teardown(() => rmSync(dir, { recursive: true, force: true }))

const busyTimeoutMs = 100

function refusalOf(path: string): OperatorError {
  try {
    openSqliteStore({ path, busyTimeoutMs })
  } catch (error) {
    if (error instanceof OperatorError) return error
    throw error
  }
  throw new Error(`${path} was opened`)
}

function raw(t: Test, path: string): DatabaseSync {
  const database = new DatabaseSync(path)
  t.teardown(() => database.close())
  return database
}

t.test('the database and its folder are made where there are none', async (t) => {
  const path = join(dir, 'new', 'folder', 'gatehouse.db')
  const store = openSqliteStore({ path, busyTimeoutMs })
  t.teardown(() => store.close())
  await store.ready(0)
  t.equal(statSync(join(dir, 'new', 'folder')).mode & 0o777, 0o700, 'for nobody else')
  t.strictSame(await store.listAccounts({ after: undefined, limit: 1 }), [])
})

t.test('readers do not wait for writers: the log is written ahead', async (t) => {
  const path = join(dir, 'durable.db')
  const store = openSqliteStore({ path, busyTimeoutMs })
  t.teardown(() => store.close())
  await createAccount(store)
  const { journal_mode: mode } = raw(t, path).prepare('PRAGMA journal_mode').get() ?? {}
  t.equal(mode, 'wal')
})

t.test('a database of a newer version is refused, and left as it is', async (t) => {
  const path = join(dir, 'newer.db')
  await openSqliteStore({ path, busyTimeoutMs }).close()
  const database = raw(t, path)
  database.exec('PRAGMA user_version = 99')
  const refusal = refusalOf(path)
  t.match(refusal.message, /newer version/)
  t.match(refusal.hint, /store\.sqlite\.path/)
  t.equal(database.prepare('PRAGMA user_version').get()?.user_version, 99)
  // The newer version may be running: a refused one must not hold its database.
  t.doesNotThrow(() => database.exec('CREATE TABLE novelty (x)'), 'it is not locked')
})

t.test('a database that cannot be opened is an error the operator can read', async (t) => {
  const text = join(dir, 'text.db')
  writeFileSync(text, 'this is no database at all\n'.repeat(100))
  const folder = join(dir, 'folder.db')
  mkdirSync(folder)
  const under = join(text, 'gatehouse.db')
  for (const path of [text, folder, under]) {
    const refusal = refusalOf(path)
    t.ok(refusal.message.includes(path), refusal.message)
    t.match(refusal.hint, /store\.sqlite\.path/)
  }
})
