import t from 'tap'
import { createBench } from './loading-bench.ts'

const options = { ttlMs: 1_000, maxStaleMs: 10_000 }

t.test('what is past its time is served, and loaded again by the way', async (t) => {
  const { cache, contact, time, loads, lastLoad, reports, getLoaded } = createBench(options)
  await getLoaded('a', 'one')
  time.now = 1_000
  contact.confirmedAt = 1_000
  for (let asked = 0; asked < 3; asked++) t.strictSame(cache.get('a'), { text: 'one' })
  t.equal(loads.length, 2, 'once')
  lastLoad().end('two')
  await new Promise((resolve) => setImmediate(resolve))
  t.strictSame(cache.get('a'), { text: 'two' })
  t.strictSame(reports, ['miss', 'hit', 'hit', 'hit', 'hit'])
})

t.test('a load by the way that fails is nobody’s failure, and is tried again', async (t) => {
  const { cache, contact, time, loads, lastLoad, getLoaded } = createBench(options)
  await getLoaded('a', 'one')
  time.now = 1_000
  contact.confirmedAt = 1_000
  cache.get('a')
  lastLoad().fail(new Error('away'))
  await new Promise((resolve) => setImmediate(resolve))
  t.strictSame(cache.get('a'), { text: 'one' })
  t.equal(loads.length, 3)
})

t.test('after an outage all that is due is not loaded at once', async (t) => {
  const { cache, contact, time, loads, getLoaded } = createBench({ ...options, entriesMax: 1_000 })
  for (let key = 0; key < 500; key++) await getLoaded(String(key), 'one')
  time.now = 5_000
  contact.confirmedAt = 5_000
  const before = loads.length
  for (let key = 0; key < 500; key++) t.strictSame(cache.get(String(key)), { text: 'one' })
  t.equal(loads.length - before, 64)
  for (const load of loads.slice(before)) load.end('two')
  await new Promise((resolve) => setImmediate(resolve))
  for (let key = 0; key < 500; key++) cache.get(String(key))
  t.equal(loads.length - before, 128)
})

t.test('with the store out of reach what is known is served for its time, without a load', async (t) => {
  const { cache, contact, time, loads, reports, getLoaded } = createBench(options)
  await getLoaded('a', 'one')
  contact.confirmedAt = 3_000
  contact.isUp = false
  for (time.now of [1_000, 10_000, 12_999]) t.strictSame(cache.get('a'), { text: 'one' })
  t.equal(loads.length, 1)
  t.strictSame(reports, ['miss', 'stale', 'stale', 'stale'])
  time.now = 13_000
  t.throws(() => cache.get('a'), { code: 'store-unavailable' })
})

t.test('with the store out of reach what is unknown cannot be told, at once', async (t) => {
  const { cache, contact, time, loads, getLoaded } = createBench(options)
  await getLoaded('gone', undefined)
  contact.isUp = false
  t.throws(() => cache.get('b'), { code: 'store-unavailable' })
  t.equal(cache.get('gone'), undefined, 'what was just seen not to exist does not')
  time.now = 100
  t.throws(() => cache.get('gone'), { code: 'store-unavailable' })
  t.equal(loads.length, 1)
})

t.test('what was dropped is not served during an outage', async (t) => {
  const { cache, contact, getLoaded } = createBench(options)
  await getLoaded('a', 'one')
  contact.isUp = false
  cache.drop('a')
  t.throws(() => cache.get('a'), { code: 'store-unavailable' })
})
