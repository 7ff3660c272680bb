import { DatabaseSync } from 'node:sqlite'
import t, { type Test } from 'tap'
import type { LoggedChange } from '#store/changes.ts'
import { openSqliteStore } from '#store/sqlite/store.ts'
import { never, openAppliedChanges } from '../../identity/cache/applied-changes.ts'
import { until } from '../../setup/net.ts'
import { createAccount, newSigningKey } from '../samples.ts'
import { newSqlitePlace } from './place.ts'

/** A store that listens, has read its log, and knows that it is told of writes; and one for the changes of others. */
async function listen(t: Test) {
  const place = await newSqlitePlace(t)
  const other = await place.open()
  const store = openSqliteStore({ path: place.path, busyTimeoutMs: 2_000, listens: true })
  t.teardown(() => store.close())
  const announced: LoggedChange[] = []
  store.onChange((logged) => announced.push(logged))
  await store.readChanges(undefined)
  await other.probeWrite()
  await until('it is told of writes', () => store.isListening() || undefined)
  return { path: place.path, store, other, announced }
}

t.test('changes of others are announced, in order, without a reading of the log', async (t) => {
  const { other, announced } = await listen(t)
  await other.addSigningKey(newSigningKey())
  await other.addSigningKey(newSigningKey())
  await until('they are announced', () => announced.length >= 2 || undefined)
  t.strictSame(
    announced.map(({ position }) => position),
    [1, 2],
  )
})

t.test('a write that changes nothing of what caches hold is not announced', async (t) => {
  const { other, announced } = await listen(t)
  await other.probeWrite()
  await other.addSigningKey(newSigningKey())
  await until('what came after it is', () => announced.length > 0 || undefined)
  t.equal(announced.length, 1)
})

t.test('a store that has not been told of a write yet does not count on it', async (t) => {
  const place = await newSqlitePlace(t)
  const store = openSqliteStore({ path: place.path, busyTimeoutMs: 2_000, listens: true })
  t.teardown(() => store.close())
  await store.readChanges(undefined)
  t.equal(store.isListening(), false)
})

t.test('a change that a reading finds first means short intervals, until it is announced', async (t) => {
  const { path, store, announced } = await listen(t)
  const database = new DatabaseSync(path)
  t.teardown(() => database.close())
  database.exec(`INSERT INTO changes (kind, subject, at) VALUES ('session', 'x', 1)`)
  // In the same turn: nothing can have been told yet.
  t.equal((await store.readChanges(0)).changes?.length, 1)
  t.equal(store.isListening(), false)
  await until('it is announced', () => announced.length > 0 || undefined)
  t.equal(store.isListening(), true)
})

t.test('a store of commands does not watch its file', async (t) => {
  const place = await newSqlitePlace(t)
  const [reader, writer] = [await place.open(), await place.open()]
  const { other, announced } = await listen(t)
  const heard: LoggedChange[] = []
  reader.onChange((logged) => heard.push(logged))
  await writer.addSigningKey(newSigningKey())
  await other.addSigningKey(newSigningKey())
  await until('one that listens has been told', () => announced.length > 0 || undefined)
  t.strictSame(heard, [])
  t.equal(reader.isListening(), false)
})

t.test('caches that never read the log by themselves drop what others change', async (t) => {
  const { store, other } = await listen(t)
  const { id } = await createAccount(other)
  const applied = await openAppliedChanges(t, store, never)
  await other.updateAccount(id, { role: 'Admin' })
  await until('it is dropped', () => applied.length > 0 || undefined)
  t.strictSame(applied, [{ kind: 'account', accountId: id }])
})

t.test('own changes are announced before the call resolves', async (t) => {
  const { store, announced } = await listen(t)
  const { id } = await createAccount(store)
  announced.length = 0
  const change = store.updateAccount(id, { role: 'Admin' })
  await change
  t.strictSame(announced[0]?.change, { kind: 'account', accountId: id })
})
