import t from 'tap'
import { until } from '../../setup/net.ts'
import { startRedis } from '../../setup/redis.ts'
import { openMany } from '../place.ts'
import { hour } from '../samples.ts'
import { openInspector, openStoreAt, optionsOf, prefixedPlaces } from './place.ts'

const server = await startRedis(t)
const inspector = openInspector(t, server)
t.beforeEach(() => inspector.flushall())
const places = prefixedPlaces(optionsOf(server))

t.test('a rate is counted across instances', async (t) => {
  const stores = await openMany(await places(t), 4)
  const rate = { limit: 50, perMs: hour }
  const asked = Array.from({ length: 200 }, (_, index) =>
    stores[index % 4]?.takeFromRate('session start', 'ada', rate),
  )
  const taken = await Promise.all(asked)
  t.equal(taken.filter((each) => each?.isAllowed).length, 50)
  const remaining = taken.filter((each) => each?.isAllowed).map((each) => each?.remaining)
  t.strictSame(
    remaining.toSorted((a, b) => Number(b) - Number(a)),
    Array.from({ length: 50 }, (_, index) => 49 - index),
    'each gets what is left after it',
  )
})

t.test('Redis does not reveal who is counted, and drops counts once fully restored', async (t) => {
  const store = await openStoreAt(t, optionsOf(server))
  await store.takeFromRate('route orders ip', '203.0.113.7', { limit: 10, perMs: 10_000 })
  await store.takeFromRate('route orders ip', '203.0.113.7', { limit: 10, perMs: 10_000 })
  const [key = '', ...others] = await inspector.keys('*rate*')
  t.strictSame(others, [])
  t.notMatch(key, /203|orders/)
  const ttlMs = await inspector.pttl(key)
  t.ok(ttlMs > 0 && ttlMs <= 2_000, `${ttlMs} ms`)
})

t.test("a rate's wait in Redis never grows when its clock is set back", async (t) => {
  const store = await openStoreAt(t, optionsOf(server))
  const rate = { limit: 1, perMs: 400 }
  await store.takeFromRate('session start', 'ada', rate)
  const [key = ''] = await inspector.keys('*rate*')
  // As if it had been taken an hour ahead.
  const [at, owed] = ((await inspector.get(key)) ?? '').split(' ')
  await inspector.set(key, `${Number(at) + 3_600_000_000} ${owed}`)
  t.equal((await store.takeFromRate('session start', 'ada', rate)).isAllowed, false)
  await until(
    'the place is given back',
    async () => (await store.takeFromRate('session start', 'ada', rate)).isAllowed || undefined,
  )
})

t.test('a lost rate count starts again at the full limit', async (t) => {
  const store = await openStoreAt(t, optionsOf(server))
  const rate = { limit: 1, perMs: hour }
  await store.takeFromRate('session start', 'ada', rate)
  await inspector.flushall()
  t.equal((await store.takeFromRate('session start', 'ada', rate)).isAllowed, true)
})

t.test('every live instance is counted, and none that has gone', async (t) => {
  const stores = await openMany({ open: () => openStoreAt(t, optionsOf(server)) }, 3)
  const [first] = stores
  for (const [index, store] of stores.entries())
    t.equal(await store.heartbeat(`instance ${index}`), index + 1)
  t.equal(await first?.heartbeat('instance 0'), 3)
  // Instance 1 was last heard of 16 s ago.
  await inspector.zadd('gh:instances', Date.now() - 16_000, 'instance 1')
  t.equal(await first?.heartbeat('instance 0'), 2)
  await stores[1]?.heartbeat('instance 1')
  t.equal(await first?.heartbeat('instance 0'), 3)
  t.ok((await inspector.pttl('gh:instances')) > 0, 'when all have gone nothing is left')
})
