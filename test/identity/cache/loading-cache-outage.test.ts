import t from 'tap'
import { createBench } from './loading-cache-harness.ts'

const options = { ttlMs: 1_000, maxStaleMs: 10_000 }

t.test('a stale value is served while it is reloaded in the background', async (t) => {
  const { cache, contact, time, loads, lastLoad, reports, getLoaded } = createBench(options)
  await getLoaded('a', 'one')
  time.now = 1_000
  contact.readAt = 1_000
  for (let asked = 0; asked < 3; asked++) t.strictSame(cache.get('a'), { text: 'one' })
  t.equal(loads.length, 2, 'once')
  lastLoad().end('two')
  await new Promise((resolve) => setImmediate(resolve))
  t.strictSame(cache.get('a'), { text: 'two' })
  t.strictSame(reports, ['miss', 'hit', 'hit', 'hit', 'hit'])
})

t.test('a failed background reload fails no caller, and is retried', async (t) => {
  const { cache, contact, time, loads, lastLoad, getLoaded } = createBench(options)
  await getLoaded('a', 'one')
  time.now = 1_000
  contact.readAt = 1_000
  cache.get('a')
  lastLoad().fail(new Error('away'))
  await new Promise((resolve) => setImmediate(resolve))
  t.strictSame(cache.get('a'), { text: 'one' })
  t.equal(loads.length, 3)
})

t.test('after an outage due reloads are spread out', async (t) => {
  const { cache, contact, time, loads, getLoaded } = createBench({ ...options, entriesMax: 1_000 })
  for (let key = 0; key < 500; key++) await getLoaded(String(key), 'one')
  time.now = 5_000
  contact.readAt = 5_000
  const before = loads.length
  for (let key = 0; key < 500; key++) t.strictSame(cache.get(String(key)), { text: 'one' })
  t.equal(loads.length - before, 64)
  for (const load of loads.slice(before)) load.end('two')
  await new Promise((resolve) => setImmediate(resolve))
  for (let key = 0; key < 500; key++) cache.get(String(key))
  t.equal(loads.length - before, 128)
})

t.test('with the store down cached values are served for their time, without a load', async (t) => {
  const { cache, contact, time, loads, reports, getLoaded } = createBench(options)
  await getLoaded('a', 'one')
  contact.readAt = 3_000
  contact.isUp = false
  for (time.now of [1_000, 10_000, 12_999]) t.strictSame(cache.get('a'), { text: 'one' })
  t.equal(loads.length, 1)
  t.strictSame(reports, ['miss', 'stale', 'stale', 'stale'])
  time.now = 13_000
  t.throws(() => cache.get('a'), { code: 'store-unavailable' })
})

t.test('with the store down an unknown key fails at once', async (t) => {
  const { cache, contact, time, loads, getLoaded } = createBench(options)
  await getLoaded('gone', undefined)
  contact.isUp = false
  t.throws(() => cache.get('b'), { code: 'store-unavailable' })
  t.equal(cache.get('gone'), undefined, 'what was just seen not to exist does not')
  time.now = 100
  t.throws(() => cache.get('gone'), { code: 'store-unavailable' })
  t.equal(loads.length, 1)
})

for (const [name, maxStaleMs] of [
  ['a time shorter than that of an entry', 500],
  ['no time at all', 0],
] as const) {
  t.test(`with the store down cached values are served for ${name}`, async (t) => {
    const { cache, contact, time, loads, reports, getLoaded } = createBench({ ttlMs: 60_000, maxStaleMs })
    await getLoaded('a', 'one')
    contact.readAt = 1_000
    time.now = 30_000
    t.strictSame(cache.get('a'), { text: 'one' }, 'with the store it is for that of the entry')
    contact.isUp = false
    if (maxStaleMs > 0) {
      time.now = 999 + maxStaleMs
      t.strictSame(cache.get('a'), { text: 'one' })
    }
    for (time.now of [1_000 + maxStaleMs, 59_999, 600_000]) {
      t.throws(() => cache.get('a'), { code: 'store-unavailable' })
    }
    t.equal(reports.filter((report) => report === 'stale').length, maxStaleMs > 0 ? 1 : 0)
    contact.isUp = true
    time.now = 59_999
    t.strictSame(cache.get('a'), { text: 'one' }, 'and again when it is back')
    t.equal(loads.length, 1)
  })
}

t.test('values served in an outage count as stale from its start', async (t) => {
  const { cache, contact, time, reports, getLoaded } = createBench({ ttlMs: 60_000, maxStaleMs: 600_000 })
  await getLoaded('a', 'one')
  cache.get('a')
  contact.isUp = false
  for (time.now of [1, 59_999, 60_000]) cache.get('a')
  contact.isUp = true
  time.now = 2
  cache.get('a')
  t.strictSame(reports, ['miss', 'hit', 'stale', 'stale', 'stale', 'hit'])
})

t.test('changed values are reloaded in the background if cached, a few at a time', async (t) => {
  const { cache, contact, loads, getLoaded } = createBench({ ...options, entriesMax: 1_000 })
  const keys = Array.from({ length: 200 }, (_, key) => String(key))
  for (const key of keys) await getLoaded(key, 'one')
  const before = loads.length
  cache.reload('strange')
  for (const key of keys) t.strictSame(cache.reload(key), { text: 'one' })
  t.equal(loads.length - before, 64, 'and nothing of what nobody had asked for')
  for (let done = before; done < loads.length; done++) {
    loads[done]?.end('two')
    await new Promise((resolve) => setImmediate(resolve))
  }
  t.equal(loads.length - before, 200)
  contact.isUp = false
  for (const key of keys) t.strictSame(cache.get(key), { text: 'two' })
})

t.test('a value changed twice is never cached as it was in between', async (t) => {
  const { cache, loads, getLoaded } = createBench(options)
  await getLoaded('a', 'one')
  cache.reload('a')
  cache.reload('a')
  loads[1]?.end('two')
  await new Promise((resolve) => setImmediate(resolve))
  const got = cache.get('a')
  t.ok(got instanceof Promise)
  t.equal(loads.length, 3)
  loads[2]?.end('three')
  t.strictSame(await got, { text: 'three' })
})

t.test('a value changed during an outage is loaded when asked for, not before', async (t) => {
  const { cache, contact, loads, getLoaded } = createBench(options)
  await getLoaded('a', 'one')
  contact.isUp = false
  cache.reload('a')
  t.throws(() => cache.get('a'), { code: 'store-unavailable' })
  contact.isUp = true
  t.equal(loads.length, 1)
  t.strictSame(await getLoaded('a', 'two'), { text: 'two' })
})
