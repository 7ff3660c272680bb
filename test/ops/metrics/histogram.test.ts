import { Histogram, Registry } from 'prom-client'
import t from 'tap'
import { FastHistogram, unpackHistogram } from '#ops/metrics/histogram.ts'
import { register } from '#ops/metrics/instrument.ts'

const buckets = [0.1, 0.25, 1]
const routes = ['orders', 'files', 'models', 'users', 'search']
const options = { name: 'seconds', help: 'Seconds.', labelNames: ['route'], buckets }

/** Observes the same values, in turn, so that series are added between observations of others. */
function observe(histogram: { labels(route: string): { observe(value: number): void } }): void {
  // At the bounds, and beyond the last.
  const values = [0, 0.1, 0.100_000_1, 0.25, 0.5, 1, 1.5, 30]
  values.forEach((value, turn) => {
    for (const route of routes.slice(0, 1 + turn)) histogram.labels(route).observe(value)
  })
}

t.test('each series of a histogram counts as one of prom-client does', async (t) => {
  const registries = { expected: new Registry(), found: new Registry() }
  observe(new Histogram({ ...options, registers: [registries.expected] }))
  const histogram = new FastHistogram(options)
  observe(histogram)
  register(registries.found, [histogram])
  const found = await registries.found.metrics()
  t.match(found, 'seconds_sum{route="orders"} 33.4500001')
  t.strictSame(found.split('\n'), (await registries.expected.metrics()).split('\n'))
})

t.test('a histogram that was packed for another process is the same there', async (t) => {
  const histogram = new FastHistogram(options)
  observe(histogram)
  const packed = JSON.stringify(histogram.packed())
  const whole = await histogram.get()
  t.strictSame(unpackHistogram(JSON.parse(packed)), whole)
  t.ok(3 * packed.length < JSON.stringify(whole).length, `${packed.length} bytes`)
})
