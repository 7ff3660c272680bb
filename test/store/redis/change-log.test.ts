import t, { type Test } from 'tap'
import type { Store } from '#store/store.ts'
import { startRedis } from '../../setup/redis.ts'
import { createAccount, newSigningKey, withoutTimes } from '../samples.ts'
import { logSessions, openInspector, openStoreAt, optionsOf } from './place.ts'

const server = await startRedis(t)
const inspector = openInspector(t, server)
t.beforeEach(() => inspector.flushall())

const log = 'gh:{account}:log'
const head = 'gh:{account}:log-head'

async function openWithChanges(t: Test, count: number): Promise<Store> {
  const store = await openStoreAt(t, optionsOf(server))
  for (let change = 0; change < count; change++) await store.addSigningKey(newSigningKey())
  return store
}

t.test('changes trimmed from the log are reported as unknown', async (t) => {
  const store = await openWithChanges(t, 5)
  await inspector.xtrim(log, 'MAXLEN', 2)
  const before = Date.now()
  const cut = await store.readChanges(2)
  t.equal(cut.changes, undefined)
  t.ok(cut.completeSince >= before, 'nor anything before it')
  t.equal((await store.readChanges(3)).changes?.length, 2)
  await inspector.del(log)
  t.strictSame(withoutTimes(await store.readChanges(4)), { head: 5, changes: undefined })
  t.strictSame(withoutTimes(await store.readChanges(5)), { head: 5, changes: [] })
})

t.test('an entry missing from the middle of the log is reported as unknown', async (t) => {
  const store = await openWithChanges(t, 5)
  await inspector.xdel(log, '3-0')
  t.equal((await store.readChanges(1)).changes, undefined)
  t.equal((await store.readChanges(3)).changes?.length, 2)
})

t.test('the change log is kept short, and a reader far behind drops its cache', async (t) => {
  const store = await openStoreAt(t, optionsOf(server))
  await logSessions(inspector, 5_000)
  await store.addSigningKey(newSigningKey())
  const length = await inspector.xlen(log)
  t.ok(length >= 2_000 && length < 2_200, `${length} entries are kept`)
  t.strictSame(withoutTimes(await store.readChanges(3_000)), { head: 5_001, changes: undefined })
  t.equal((await store.readChanges(3_001)).changes?.length, 2_000)
  const start = await (await openStoreAt(t, optionsOf(server))).readChanges(undefined)
  t.equal(start.changes?.length, 2_000, 'a start reads the last of it')
  t.equal(start.changes?.[0]?.position, 3_002)
  t.ok(Math.abs(start.completeSince - 3_002) < 1_000, 'and knows from when on that is all')
})

t.test('a reader 100,000 changes behind is answered within the time of a request', async (t) => {
  const store = await openStoreAt(t, optionsOf(server, { commandTimeoutMs: 250 }))
  await store.addSigningKey(newSigningKey())
  await store.readChanges(0)
  await logSessions(inspector, 100_000)
  t.strictSame(withoutTimes(await store.readChanges(1)), { head: 100_001, changes: undefined })
  await logSessions(inspector, 1)
  t.equal((await store.readChanges(100_001)).changes?.length, 1, 'and goes on from there')
  // As after a failover that lost the last entry that was seen, of which only that was sent.
  await logSessions(inspector, 3_000)
  t.equal((await store.readChanges(100_002)).changes, undefined)
  await inspector.xdel(log, '103002-0')
  await inspector.xsetid(log, '103001-0')
  await inspector.set(head, 103_001)
  await store.addSigningKey(newSigningKey())
  await store.addSigningKey(newSigningKey())
  t.equal((await store.readChanges(103_002)).changes, undefined, 'also where others came in their place')
})

t.test('changes logged by a newer version are skipped', async (t) => {
  const store = await openWithChanges(t, 1)
  await inspector.xadd(log, '2-0', 'kind', 'novelty', 'subject', 'x', 'at', '1')
  await inspector.set(head, 2)
  await store.addSigningKey(newSigningKey())
  t.strictSame(withoutTimes(await store.readChanges(0)), {
    head: 3,
    changes: [{ kind: 'signing-keys' }, { kind: 'signing-keys' }],
  })
})

t.test('a change log that lost its last entries and got others is reported as unknown', async (t) => {
  const store = await openStoreAt(t, optionsOf(server))
  const { id } = await createAccount(store)
  for (const role of ['a', 'b', 'c']) await store.updateAccount(id, { role })
  for (const [lost, made] of [
    [1, 1],
    [1, 2],
    [2, 2],
    [2, 4],
  ] as const) {
    const reader = await openStoreAt(t, optionsOf(server))
    const before = (await reader.readChanges(undefined)).head
    // As a replica that had not heard of them, and is the master now: of the same account, as it is tried again.
    for (let entry = before; entry > before - lost; entry--) await inspector.xdel(log, `${entry}-0`)
    await inspector.set(head, before - lost)
    await inspector.xsetid(log, `${before - lost}-0`)
    for (let change = 0; change < made; change++) await store.updateAccount(id, { role: `${change}` })
    const { changes } = await reader.readChanges(before)
    t.equal(changes, undefined, `${lost} lost, ${made} made`)
  }
})
