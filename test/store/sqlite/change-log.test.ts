import { DatabaseSync } from 'node:sqlite'
import t from 'tap'
import { fastestMs } from '../../setup/fastest.ts'
import {
  createAccount,
  day,
  hour,
  newSigningKey,
  now,
  startSession,
  useOf,
  withoutTimes,
} from '../samples.ts'
import { newSqlitePlace } from './place.ts'

function fill(database: DatabaseSync, first: number, last: number): void {
  database.exec(`
    WITH RECURSIVE number(n) AS (VALUES (${first}) UNION ALL SELECT n + 1 FROM number WHERE n < ${last})
    INSERT INTO changes (seq, kind, subject, at) SELECT n, 'session', 'x', n FROM number`)
}

t.test('the change log is kept short, and a reader far behind drops its cache', async (t) => {
  const place = await newSqlitePlace(t)
  const store = await place.open()
  const database = new DatabaseSync(place.path)
  t.teardown(() => database.close())
  fill(database, 1, 2_010)
  t.strictSame(
    withoutTimes(await store.readChanges(9)),
    { head: 2_010, changes: undefined },
    'also where it is long',
  )
  t.equal((await store.readChanges(10)).changes?.length, 2_000)
  await store.addSigningKey(newSigningKey())
  t.equal(database.prepare('SELECT count(*) AS count FROM changes').get()?.count, 2_000)
  t.strictSame(withoutTimes(await store.readChanges(10)), { head: 2_011, changes: undefined })
  t.equal((await store.readChanges(11)).changes?.length, 2_000)
  const start = await (await place.open()).readChanges(undefined)
  t.equal(start.changes?.length, 2_000, 'a start reads the last of it')
  t.equal(start.changes?.[0]?.position, 12)
  t.equal(start.completeSince, 12, 'and knows from when on that is all')
})

t.test('positions are never given twice, not even of entries that are gone', async (t) => {
  const place = await newSqlitePlace(t)
  const store = await place.open()
  await store.addSigningKey(newSigningKey())
  await store.addSigningKey(newSigningKey())
  const database = new DatabaseSync(place.path)
  t.teardown(() => database.close())
  database.exec('DELETE FROM changes')
  await store.addSigningKey(newSigningKey())
  t.strictSame(withoutTimes(await store.readChanges(2)), { head: 3, changes: [{ kind: 'signing-keys' }] })
  t.strictSame(withoutTimes(await store.readChanges(1)), { head: 3, changes: undefined })
})

t.test('changes logged by a newer version are skipped', async (t) => {
  const place = await newSqlitePlace(t)
  const store = await place.open()
  await store.addSigningKey(newSigningKey())
  const database = new DatabaseSync(place.path)
  t.teardown(() => database.close())
  database.exec(`INSERT INTO changes (kind, subject, at) VALUES ('novelty', 'x', 1)`)
  t.strictSame(withoutTimes(await store.readChanges(0)), { head: 2, changes: [{ kind: 'signing-keys' }] })
})

t.test('an ended session is distinguished from an unknown one for a day, then deleted', async (t) => {
  const store = await (await newSqlitePlace(t)).open()
  const account = await createAccount(store)
  const old = await startSession(store, account, { createdAt: now - hour, expiresAt: now, idleMs: hour })
  await startSession(store, account, { createdAt: now + day, expiresAt: now + 9 * day })
  t.strictSame(await store.rotateSession(useOf(old)), { kind: 'over', reason: 'expired' })
  await startSession(store, account, { createdAt: now + day + 1, expiresAt: now + 9 * day })
  t.strictSame(await store.rotateSession(useOf(old)), { kind: 'over', reason: 'unknown' })
})

t.test('a reading without news takes as long with a long log as with a short one', async (t) => {
  const fastestUs = async (entries: number) => {
    const place = await newSqlitePlace(t)
    const store = await place.open()
    const database = new DatabaseSync(place.path)
    fill(database, 1, entries)
    database.close()
    const readings = async () => {
      for (let times = 0; times < 100; times++) await store.readChanges(entries)
    }
    return 10 * (await fastestMs(10, readings))
  }
  const [short, long] = [await fastestUs(1), await fastestUs(2_000)]
  t.ok(long < 3 * short, `${long.toFixed(0)} and ${short.toFixed(0)} us`)
})
