import t from 'tap'
import { createBench } from './loading-cache-harness.ts'

t.test('callers that want the same key at once share one load', async (t) => {
  const { cache, loads, lastLoad, reports } = createBench()
  const got = Array.from({ length: 50 }, () => cache.get('a'))
  t.equal(loads.length, 1)
  lastLoad().end('one')
  const values = await Promise.all(got)
  t.equal(new Set(values).size, 1)
  t.strictSame(values[0], { text: 'one' })
  t.strictSame(reports, Array(50).fill('miss'))
})

t.test('keys do not wait for each other', async (t) => {
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

t.test('what is known is answered at once until its time is over', async (t) => {
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

t.test('what does not exist is remembered for a time of its own', async (t) => {
  const { cache, time, loads, reports, getLoaded } = createBench({ absentTtlMs: 100 })
  t.equal(await getLoaded('a', undefined), undefined)
  for (time.now of [0, 99]) t.equal(cache.get('a'), undefined)
  t.equal(loads.length, 1)
  time.now = 100
  t.strictSame(await getLoaded('a', 'one'), { text: 'one' }, 'it may exist by now')
  t.strictSame(cache.get('a'), { text: 'one' })
  t.strictSame(reports, ['miss', 'negative_hit', 'negative_hit', 'miss', 'hit'])
})

t.test('a time of 0 keeps nothing', async (t) => {
  const { loads, getLoaded } = createBench({ ttlMs: 0, absentTtlMs: 0 })
  await getLoaded('a', 'one')
  await getLoaded('a', 'two')
  await getLoaded('b', undefined)
  await getLoaded('b', undefined)
  t.equal(loads.length, 4)
})

t.test('what has gone is gone once its time is over, even where it was known', async (t) => {
  const { cache, time, getLoaded } = createBench({ ttlMs: 1_000, absentTtlMs: 5_000 })
  await getLoaded('a', 'one')
  time.now = 1_000
  t.equal(await getLoaded('a', undefined), undefined)
  t.equal(cache.get('a'), undefined)
  time.now = 2_000
  t.equal(cache.get('a'), undefined)
})

t.test('a load that fails fails for all who wait, and is tried anew', async (t) => {
  const { cache, loads, lastLoad, getLoaded } = createBench()
  const got = Array.from({ length: 5 }, async () => cache.get('a'))
  lastLoad().fail(new Error('away'))
  for (const outcome of await Promise.allSettled(got)) t.match(outcome, { reason: { message: 'away' } })
  t.strictSame(await getLoaded('a', 'one'), { text: 'one' })
  t.equal(loads.length, 2)
})

t.test('a load that fails takes nothing away from what is known of others', async (t) => {
  const { cache, lastLoad, getLoaded } = createBench()
  await getLoaded('a', 'one')
  const b = cache.get('b')
  lastLoad().fail(new Error('away'))
  await Promise.allSettled([b])
  t.strictSame(cache.get('a'), { text: 'one' })
})

t.test('no more than its number of entries is kept, those used last', async (t) => {
  const { cache, loads, getLoaded } = createBench({ entriesMax: 3 })
  for (const key of ['a', 'b', 'c']) await getLoaded(key, key)
  cache.get('a')
  await getLoaded('d', 'd')
  t.equal(loads.length, 4)
  for (const key of ['a', 'c', 'd']) t.strictSame(cache.get(key), { text: key })
  t.ok(cache.get('b') instanceof Promise, 'the one that was not used for longest went')
})

t.test('made-up keys push out no known ones', async (t) => {
  const { cache, loads, getLoaded } = createBench({ entriesMax: 3, absentEntriesMax: 5 })
  for (const key of ['a', 'b', 'c']) await getLoaded(key, key)
  for (let guess = 0; guess < 1_000; guess++) await getLoaded(`guess ${guess}`, undefined)
  for (const key of ['a', 'b', 'c']) t.strictSame(cache.get(key), { text: key })
  const before = loads.length
  for (let guess = 995; guess < 1_000; guess++) t.equal(cache.get(`guess ${guess}`), undefined)
  t.equal(loads.length, before, 'the last of them are remembered')
  t.ok(cache.get('guess 994') instanceof Promise, 'and no more than that')
})

t.test('any text is a key', async (t) => {
  const { cache, getLoaded } = createBench()
  for (const key of ['', '__proto__', 'constructor', 'hasOwnProperty', ' ']) {
    t.strictSame(await getLoaded(key, key), { text: key })
    t.strictSame(cache.get(key), { text: key })
  }
})
