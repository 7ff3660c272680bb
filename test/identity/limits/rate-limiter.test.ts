import t from 'tap'
import { openRateLimiter } from '#identity/limits/rate-limiter.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { until } from '../../setup/net.ts'
import { startRedis } from '../../setup/redis.ts'
import { openStoreAt, optionsOf } from '../../store/redis/place.ts'
import { newSqlitePlace } from '../../store/sqlite/place.ts'

const rate = { limit: 4, perMs: 60_000 }

t.test('instances on one store share their rate limits', async (t) => {
  const server = await startRedis(t)
  const limiters = await Promise.all(
    [1, 2].map(async () => {
      const store = await openStoreAt(t, optionsOf(server))
      const limiter = openRateLimiter({
        store,
        storeConnection: { isUp: true },
        monotonic: Date.now,
        onStoreFailure: () => {},
      })
      t.teardown(limiter.close)
      return limiter
    }),
  )
  const allowed: boolean[] = []
  for (let request = 0; request < 3; request++) {
    for (const limiter of limiters) allowed.push((await limiter.take('route r ip', 'who', rate)).isAllowed)
  }
  t.strictSame(allowed, [true, true, true, true, false, false])
  t.equal((await limiters[0]?.take('route r ip', 'somebody else', rate))?.isAllowed, true)
})

t.test('with the store down an instance allows its share of a rate, at least one', async (t) => {
  const store = await (await newSqlitePlace(t)).open()
  const storeConnection = { isUp: true }
  let beats = 0
  const limiter = openRateLimiter({
    store: {
      takeFromRate: () => Promise.reject(new GatehouseError('store-unavailable')),
      // Two others are there as well.
      heartbeat: async (instance) => {
        const count = await store.heartbeat(instance)
        beats++
        return count + 2
      },
    },
    storeConnection,
    monotonic: () => 0,
    onStoreFailure: () => {},
  })
  t.teardown(limiter.close)
  await until('it knows of the others', () => beats > 0 || undefined)
  const take = async (limit: number, who: string) =>
    (await limiter.take('route r ip', who, { ...rate, limit })).isAllowed
  t.strictSame([await take(7, 'a'), await take(7, 'a'), await take(7, 'a')], [true, true, false])
  storeConnection.isUp = false
  t.strictSame([await take(2, 'b'), await take(2, 'b')], [true, false])
})

t.test('a fault of the store is reported, and the process then counts alone', async (t) => {
  const faults: unknown[] = []
  const limiter = openRateLimiter({
    store: {
      takeFromRate: () => Promise.reject(new Error('the script is broken')),
      heartbeat: () => Promise.reject(new Error('the other script is broken')),
    },
    storeConnection: { isUp: true },
    monotonic: () => 0,
    onStoreFailure: (error) => faults.push(error),
  })
  t.teardown(limiter.close)
  await until('a heartbeat has failed', () => faults.length > 0 || undefined)
  t.match(faults.splice(0), [{ message: 'the other script is broken' }])
  const taken = limiter.take('route r ip', 'who', { ...rate, limit: 1 })
  t.match(await taken, { isAllowed: true })
  t.match(faults, [{ message: 'the script is broken' }])
})

t.test('instances are counted as soon as the store is reachable, and again after an outage', async (t) => {
  const server = await startRedis(t)
  const open = async () => {
    const store = await openStoreAt(t, optionsOf(server))
    const seen = { beats: 0, downs: 0 }
    const state = { isUp: false }
    const storeConnection = {
      get isUp() {
        if (!state.isUp) seen.downs++
        return state.isUp
      },
    }
    const heartbeat = async (instance: string) => {
      const count = await store.heartbeat(instance)
      seen.beats++
      return count
    }
    // On a clock that stands still no second heartbeat is due.
    const limiter = openRateLimiter({
      store: { ...store, heartbeat },
      storeConnection,
      monotonic: () => 0,
      onStoreFailure: () => {},
    })
    t.teardown(limiter.close)
    return { limiter, state, seen }
  }
  const [one, two] = [await open(), await open()]
  two.state.isUp = true
  await until('the second has sent its heartbeat', () => two.seen.beats === 1 || undefined)
  one.state.isUp = true
  await until('the first knows of both', () => one.limiter.processes() === 2 || undefined)
  t.equal(two.limiter.processes(), 1, 'its next heartbeat is not due')
  const { downs } = two.seen
  two.state.isUp = false
  await until('the outage is seen', () => two.seen.downs > downs || undefined)
  two.state.isUp = true
  await until('it counts at once when the store is back', () => two.limiter.processes() === 2 || undefined)
  t.equal(two.seen.beats, 2)
})

t.test('a heartbeat is sent with another command from 900 ms after the last on', async (t) => {
  const store = await (await newSqlitePlace(t)).open()
  const time = { ms: 0 }
  let beats = 0
  const heartbeat = async () => ++beats
  const limiter = openRateLimiter({
    store: { ...store, heartbeat },
    storeConnection: { isUp: true },
    monotonic: () => time.ms,
    onStoreFailure: () => {},
  })
  t.teardown(limiter.close)
  limiter.beat()
  t.equal(beats, 0, 'the first is sent by itself')
  await until('the first was answered', () => limiter.processes() === 1 && beats === 1)
  await new Promise((resolve) => setImmediate(resolve))
  time.ms = 899
  limiter.beat()
  t.equal(beats, 1)
  time.ms = 900
  limiter.beat()
  limiter.beat()
  t.equal(beats, 2, 'once')
})
