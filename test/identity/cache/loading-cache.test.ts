import t from 'tap'
import { createBench } from './loading-cache-harness.ts'

t.test('concurrent callers of one key share one load', async (t) => {
  const { cache, loads, lastLoad, reports } = createBench()
  const got = Array.from({ length: 50 }, () => cache.get('a'))
  t.equal(loads.length, 1)
  lastLoad().end('one')
  const values = await Promise.all(got)
  t.equal(new Set(values).size, 1)
  t.strictSame(values[0], { text: 'one' })
  t.strictSame(reports, Array(50).fill('miss'))
})

t.test('loads of different keys do not wait for each other', async (t) => {
  const { cache, loads } = createBench()
  const [a, b] = [cache.get('a'), cache.get('b')]
  t.strictSame(
    loads.map(({ key }) => key),
    ['a', 'b'],
  )
  loads[1]?.end('two')
  t.strictSame(await b, { text: 'two' })
  loads[0]?.end('one')
  t.strictSame(await a, { text: 'one' })
})

t.test('a cached value is returned at once until its TTL ends', async (t) => {
  const { cache, time, loads, reports, getLoaded } = createBench({ ttlMs: 1_000 })
  await getLoaded('a', 'one')
  for (time.now of [0, 500, 999]) t.strictSame(cache.get('a'), { text: 'one' })
  t.equal(loads.length, 1)
  time.now = 1_000
  t.strictSame(await getLoaded('a', 'two'), { text: 'two' })
  time.now = 1_999
  t.strictSame(cache.get('a'), { text: 'two' }, 'counted from when it was loaded')
  t.strictSame(reports, ['miss', 'hit', 'hit', 'hit', 'miss', 'hit'])
})

t.test('an absent value is cached with a TTL of its own', async (t) => {
  const { cache, time, loads, reports, getLoaded } = createBench({ absentTtlMs: 100 })
  t.equal(await getLoaded('a', undefined), undefined)
  for (time.now of [0, 99]) t.equal(cache.get('a'), undefined)
  t.equal(loads.length, 1)
  time.now = 100
  t.strictSame(await getLoaded('a', 'one'), { text: 'one' }, 'it may exist by now')
  t.strictSame(cache.get('a'), { text: 'one' })
  t.strictSame(reports, ['miss', 'negative_hit', 'negative_hit', 'miss', 'hit'])
})

t.test('a TTL of 0 caches nothing', async (t) => {
  const { loads, getLoaded } = createBench({ ttlMs: 0, absentTtlMs: 0 })
  await getLoaded('a', 'one')
  await getLoaded('a', 'two')
  await getLoaded('b', undefined)
  await getLoaded('b', undefined)
  t.equal(loads.length, 4)
})

t.test('a removed value is absent once its TTL ends', async (t) => {
  const { cache, time, getLoaded } = createBench({ ttlMs: 1_000, absentTtlMs: 5_000 })
  await getLoaded('a', 'one')
  time.now = 1_000
  t.equal(await getLoaded('a', undefined), undefined)
  t.equal(cache.get('a'), undefined)
  time.now = 2_000
  t.equal(cache.get('a'), undefined)
})

t.test('a failed load fails for all its callers, and is retried by the next', async (t) => {
  const { cache, loads, lastLoad, getLoaded } = createBench()
  const got = Array.from({ length: 5 }, async () => cache.get('a'))
  lastLoad().fail(new Error('away'))
  for (const outcome of await Promise.allSettled(got)) t.match(outcome, { reason: { message: 'away' } })
  t.strictSame(await getLoaded('a', 'one'), { text: 'one' })
  t.equal(loads.length, 2)
})

t.test('a failed load does not affect other cached values', async (t) => {
  const { cache, lastLoad, getLoaded } = createBench()
  await getLoaded('a', 'one')
  const b = cache.get('b')
  lastLoad().fail(new Error('away'))
  await Promise.allSettled([b])
  t.strictSame(cache.get('a'), { text: 'one' })
})

t.test('a full cache evicts the least recently used entries', async (t) => {
  const { cache, loads, getLoaded } = createBench({ entriesMax: 3 })
  for (const key of ['a', 'b', 'c']) await getLoaded(key, key)
  cache.get('a')
  await getLoaded('d', 'd')
  t.equal(loads.length, 4)
  for (const key of ['a', 'c', 'd']) t.strictSame(cache.get(key), { text: key })
  t.ok(cache.get('b') instanceof Promise, 'the one that was not used for longest went')
})

t.test('look-ups of unknown keys evict no known ones', async (t) => {
  const { cache, loads, getLoaded } = createBench({ entriesMax: 3, absentEntriesMax: 5 })
  for (const key of ['a', 'b', 'c']) await getLoaded(key, key)
  for (let guess = 0; guess < 1_000; guess++) await getLoaded(`guess ${guess}`, undefined)
  for (const key of ['a', 'b', 'c']) t.strictSame(cache.get(key), { text: key })
  const before = loads.length
  for (let guess = 995; guess < 1_000; guess++) t.equal(cache.get(`guess ${guess}`), undefined)
  t.equal(loads.length, before, 'the last of them are remembered')
  t.ok(cache.get('guess 994') instanceof Promise, 'and no more than that')
})

t.test('any text can be a cache key', async (t) => {
  const { cache, getLoaded } = createBench()
  for (const key of ['', '__proto__', 'constructor', 'hasOwnProperty', ' ']) {
    t.strictSame(await getLoaded(key, key), { text: key })
    t.strictSame(cache.get(key), { text: key })
  }
})
