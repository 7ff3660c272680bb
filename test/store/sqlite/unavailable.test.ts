import { DatabaseSync } from 'node:sqlite'
import t from 'tap'
import { openSqliteStore } from '#store/sqlite/store.ts'
import { assertUnavailable, everyVerb, writes } from '../contract/every-verb.ts'
import { createAccount, newSigningKey, plain, withoutTimes } from '../samples.ts'
import { newSqlitePlace } from './place.ts'

t.test('a database that is closed answers nothing', async (t) => {
  const store = await (await newSqlitePlace(t)).open()
  await store.close()
  // What one process counts for itself does not ask the database.
  const { takeFromRate: _, heartbeat: __, findRisks: ___, ...asking } = everyVerb
  await assertUnavailable(t, store, Object.keys(asking))
})

t.test('while another process writes for too long, writes are refused and reads answered', async (t) => {
  const place = await newSqlitePlace(t)
  const account = await createAccount(await place.open())
  const store = openSqliteStore({ path: place.path, busyTimeoutMs: 20 })
  t.teardown(() => store.close())
  const other = new DatabaseSync(place.path)
  t.teardown(() => other.close())
  other.exec('BEGIN IMMEDIATE')
  await assertUnavailable(t, store, writes)
  t.strictSame(plain(await store.findAccount(account.id)), plain(account))
  t.strictSame(withoutTimes(await store.readChanges(0)), { head: 0, changes: [] })
  other.exec('ROLLBACK')
  t.equal(await store.addSigningKey(newSigningKey()), true)
})

t.test('writes wait for another process, and keep nobody else waiting', async (t) => {
  const place = await newSqlitePlace(t)
  const account = await createAccount(await place.open())
  const busyTimeoutMs = 2_000
  const store = openSqliteStore({ path: place.path, busyTimeoutMs })
  t.teardown(() => store.close())
  const other = new DatabaseSync(place.path)
  t.teardown(() => other.close())
  other.exec('BEGIN IMMEDIATE')
  const startedAt = performance.now()
  const written: boolean[] = []
  const writing = Array.from({ length: 10 }, async () => {
    written.push(await store.addSigningKey(newSigningKey()))
  })
  t.strictSame(plain(await store.findAccount(account.id)), plain(account))
  t.ok(performance.now() - startedAt < busyTimeoutMs, 'the thread is free meanwhile')
  t.strictSame(written, [])
  other.exec('ROLLBACK')
  await Promise.all(writing)
  t.strictSame(written, Array(10).fill(true))
  t.equal((await store.readChanges(0)).head, 10, 'each is written once')
})

t.test('a record that is damaged is a fault, and not a store that is out of reach', async (t) => {
  const place = await newSqlitePlace(t)
  const store = await place.open()
  const [damaged, whole] = [await createAccount(store), await createAccount(store)]
  const other = new DatabaseSync(place.path)
  t.teardown(() => other.close())
  other.prepare('UPDATE accounts SET portal = ? WHERE id = ?').run('{', damaged.id)
  await t.rejects(store.findAccount(damaged.id), { name: 'SyntaxError' })
  await t.rejects(store.updateAccount(damaged.id, { role: 'Admin' }), { name: 'SyntaxError' })
  t.equal((await store.updateAccount(whole.id, { role: 'Admin' })).kind, 'updated', 'it goes on')
})

t.test('a write that fails half-way leaves nothing behind', async (t) => {
  const place = await newSqlitePlace(t)
  const store = await place.open()
  const account = await createAccount(store)
  const heard: unknown[] = []
  store.onChange((change) => heard.push(change))
  const other = new DatabaseSync(place.path)
  t.teardown(() => other.close())
  // The change log is written last: there the account has been written already.
  other.exec(`CREATE TRIGGER full BEFORE INSERT ON changes BEGIN SELECT raise(ABORT, 'disk full'); END`)
  for (const work of [
    () => store.updateAccount(account.id, { email: 'new@example.com' }),
    () => store.deleteAccount(account.id),
    () => store.addSigningKey(newSigningKey()),
  ]) {
    t.match(await work().catch((error: unknown) => error), { code: 'store-unavailable' })
  }
  other.exec('DROP TRIGGER full')
  t.strictSame(plain(await store.findAccountByEmail(account.email)), plain(account))
  t.equal(await store.findAccountByEmail('new@example.com'), undefined)
  t.strictSame(await store.listSigningKeys(), [])
  t.strictSame(heard, [])
  t.equal((await store.updateAccount(account.id, { role: 'Admin' })).kind, 'updated', 'it goes on')
})
