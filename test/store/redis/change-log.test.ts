import t from 'tap'
import { startRedis } from '../../setup/redis.ts'
import { newSigningKey } from '../samples.ts'
import { openInspector, openStoreAt, optionsOf } from './place.ts'

const server = await startRedis(t)
const inspector = openInspector(t, server)
t.beforeEach(() => inspector.flushall())

const log = 'gh:{account}:log'
const head = 'gh:{account}:log-head'

t.test('what was cut off the log cannot be told', async (t) => {
  const store = await openStoreAt(t, optionsOf(server))
  for (let change = 0; change < 5; change++) await store.addSigningKey(newSigningKey())
  await inspector.xtrim(log, 'MAXLEN', 2)
  t.equal((await store.readChanges(2)).changes, undefined)
  t.equal((await store.readChanges(3)).changes?.length, 2)
  await inspector.del(log)
  t.strictSame(await store.readChanges(4), { head: 5, changes: undefined })
  t.strictSame(await store.readChanges(5), { head: 5, changes: [] })
})

t.test('an entry that is missing from the middle cannot be told', async (t) => {
  const store = await openStoreAt(t, optionsOf(server))
  for (let change = 0; change < 5; change++) await store.addSigningKey(newSigningKey())
  await inspector.xdel(log, '3-0')
  t.equal((await store.readChanges(1)).changes, undefined)
  t.equal((await store.readChanges(3)).changes?.length, 2)
})

t.test('the log is kept short, whoever is far behind drops all', async (t) => {
  const store = await openStoreAt(t, optionsOf(server))
  const fill = `for i = 1, 105000 do
    redis.call('XADD', KEYS[1], i .. '-0', 'kind', 'session', 'subject', 'x')
  end
  redis.call('SET', KEYS[2], 105000)`
  await inspector.eval(fill, 2, log, head)
  await store.addSigningKey(newSigningKey())
  const length = await inspector.xlen(log)
  t.ok(length >= 100_000 && length < 101_000, `${length} entries are kept`)
  t.strictSame(await store.readChanges(10), { head: 105_001, changes: undefined })
  t.equal((await store.readChanges(95_001)).changes?.length, 10_000)
})

t.test('what a newer version logs is passed over', async (t) => {
  const store = await openStoreAt(t, optionsOf(server))
  await store.addSigningKey(newSigningKey())
  await inspector.xadd(log, '2-0', 'kind', 'novelty', 'subject', 'x')
  await inspector.set(head, 2)
  await store.addSigningKey(newSigningKey())
  t.strictSame(await store.readChanges(0), {
    head: 3,
    changes: [{ kind: 'signing-keys' }, { kind: 'signing-keys' }],
  })
})

t.test('a log that begins anew cannot be told, even once it is as long as it was', async (t) => {
  const store = await openStoreAt(t, optionsOf(server))
  for (let change = 0; change < 3; change++) await store.addSigningKey(newSigningKey())
  const before = await store.readChanges(undefined)
  // Such as a restart without its data, or a failover to a replica that had not heard of them.
  await inspector.flushall()
  t.equal((await store.readChanges(before.head)).changes, undefined)
  for (let change = 0; change < 4; change++) {
    await store.addSigningKey(newSigningKey())
    const { changes } = await store.readChanges(before.head)
    t.equal(changes, undefined, `after ${change + 1} new changes`)
  }
})
