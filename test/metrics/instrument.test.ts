import { Histogram, Registry } from 'prom-client'
import t from 'tap'
import { FastHistogram, register } from '../../src/metrics/instrument.ts'

const buckets = [0.1, 0.25, 1]
const routes = ['orders', 'files', 'models', 'users', 'search']
const options = { name: 'seconds', help: 'Seconds.', labelNames: ['route'], buckets }

/** What a scrape of one registry shows. */
function scrape(start: (registry: Registry) => { labels(route: string): { observe(value: number): void } }) {
  const registry = new Registry()
  const histogram = start(registry)
  // In turn, so that series are added between observations of others; at the bounds, and beyond the last.
  const values = [0, 0.1, 0.100_000_1, 0.25, 0.5, 1, 1.5, 30]
  values.forEach((value, turn) => {
    for (const route of routes.slice(0, 1 + turn)) histogram.labels(route).observe(value)
  })
  return registry.metrics()
}

t.test('each series of a histogram counts as one of prom-client does', async (t) => {
  const expected = await scrape((registry) => new Histogram({ ...options, registers: [registry] }))
  const found = await scrape((registry) => {
    const histogram = new FastHistogram(options)
    register(registry, [histogram])
    return histogram
  })
  t.match(found, 'seconds_sum{route="orders"} 33.4500001')
  t.strictSame(found.split('\n'), expected.split('\n'))
})
