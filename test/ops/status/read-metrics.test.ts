import t from 'tap'
import type { Config } from '#config/config.ts'
import { type MetricsSnapshot, openMetrics } from '#ops/metrics/metrics.ts'
import { figuresOf } from '#ops/status/figures.ts'
import { readMetrics } from '#ops/status/read-metrics.ts'
import { openStatusReader } from '#ops/status/status.ts'

// alone: compares times
// timed: compares times

const duration = 'gatehouse_http_request_duration_seconds'
const requests = 'gatehouse_http_requests_total'

/** Real instruments in which requests of a route took so many seconds. */
async function observe(seconds: readonly number[], metrics = openMetrics({ version: '1' })) {
  for (const each of seconds) {
    metrics.requestDuration.labels('orders').observe(each)
    metrics.requests.labels('orders', 'GET', '200').value++
  }
  return { metrics, snapshot: await metrics.snapshot() }
}

t.test("quantiles lie where the requests do, within the buckets' resolution", async (t) => {
  const none = await observe([])
  t.equal(readMetrics(none.snapshot).quantiles(duration, { route: 'orders' }), undefined)
  t.equal(readMetrics(none.snapshot).quantiles('nothing_of_the_kind'), undefined)
  const cases: readonly (readonly [seconds: readonly number[], p50: number, p99: number])[] = [
    // In the middle of (0.005, 0.01], and near its end.
    [Array.from({ length: 100 }, () => 0.008), 7.5, 9.95],
    [[...Array.from({ length: 99 }, () => 0.0001), 20], 0.51, 1],
    [[0.0001, 20, 20], 15_000, 29_700],
    [[100, 200], 30_000, 30_000],
  ]
  for (const [seconds, p50, p99] of cases) {
    const { snapshot } = await observe(seconds)
    const found = readMetrics(snapshot).quantiles(duration, { route: 'orders' })
    t.ok(Math.abs((found?.p50 ?? 0) - p50) <= p50 * 0.02, `p50 ${found?.p50} of ${p50}`)
    t.ok(Math.abs((found?.p99 ?? 0) - p99) <= p99 * 0.02, `p99 ${found?.p99} of ${p99}`)
  }
})

t.test('a difference of two snapshots subtracts counters and keeps gauges', async (t) => {
  const { metrics, snapshot } = await observe([0.0001, 0.0001, 0.0001])
  metrics.webSocketsOpen.set(7)
  const before = await metrics.snapshot()
  const { snapshot: after } = await observe([20], metrics)
  metrics.requests.labels('new', 'GET', '200').value++
  const reading = readMetrics(await metrics.snapshot(), before)
  t.equal(reading.sum(requests), 2)
  t.equal(reading.sum(requests, { route: 'orders' }), 1)
  t.equal(reading.sum(requests, { route: 'new' }), 1)
  t.ok((reading.quantiles(duration)?.p50 ?? 0) > 10_000, 'the quick ones were before')
  t.equal(reading.sum('gatehouse_websockets_open'), 7)
  t.equal(readMetrics(after, before).sum(requests), 1)
  t.equal(readMetrics(snapshot, before).sum(requests), 0)
})

t.test('a counter that went back counts as zero, never as negative', async (t) => {
  const { snapshot: more } = await observe([1, 1, 1])
  const { snapshot: fewer } = await observe([1])
  const reading = readMetrics(fewer, more)
  t.equal(reading.sum(requests), 0)
  t.equal(reading.quantiles(duration), undefined)
})

t.test('a series is found in an earlier snapshot wherever it has its place there', async (t) => {
  const count = async (routes: readonly string[]) => {
    const metrics = openMetrics({ version: '1' })
    for (const [index, route] of routes.entries()) {
      metrics.requests.labels(route, 'GET', '200').value += 10 ** index
      for (let times = 0; times <= index; times++) metrics.requestDuration.labels(route).observe(1)
    }
    metrics.close()
    return metrics.snapshot()
  }
  const reading = readMetrics(await count(['a', 'b', 'c', 'd']), await count(['b', 'a', 'd']))
  const ofRoute = reading.by('route')
  const found = ['a', 'b', 'c', 'd', 'e'].map((route) => [
    reading.sum(requests, { route }),
    ofRoute(route).sum(requests),
    ofRoute(route).sum(`${duration}_count`),
  ])
  t.strictSame(found, [
    [0, 0, 0],
    [9, 9, 1],
    [100, 100, 3],
    [900, 900, 1],
    [0, 0, 0],
  ])
})

t.test('a histogram of all routes is the same, packed or sample by sample', async (t) => {
  const metrics = openMetrics({ version: '1' })
  t.equal(readMetrics(await metrics.ownSnapshot()).quantiles(duration), undefined, 'nothing observed')
  for (let index = 0; index < 300; index++) {
    metrics.requestDuration.labels(`route ${index % 7}`).observe(index ** 2 / 1_000)
    metrics.overhead.labels().observe(index / 1e5)
  }
  const [packed, samples] = [await metrics.ownSnapshot(), await metrics.snapshot()]
  metrics.close()
  for (const name of [duration, 'gatehouse_overhead_duration_seconds']) {
    const found = readMetrics(packed).buckets(name)
    t.equal(found.get(Number.POSITIVE_INFINITY), 300)
    t.strictSame([...found], [...readMetrics(samples).buckets(name)])
  }
})

t.test('the figures of ten times as many routes take some ten times as long', async (t) => {
  const cpuMsOf = async (count: number) => {
    const metrics = openMetrics({ version: '1' })
    const routes = Array.from({ length: count }, (_, index) => ({ name: `route ${index}` }))
    for (const { name } of routes) {
      metrics.requestDuration.labels(name).observe(1)
      metrics.requests.labels(name, 'GET', '200').value++
    }
    const snapshot = await metrics.ownSnapshot()
    metrics.close()
    const times = [1, 2, 3].map(() => {
      const startedAt = process.cpuUsage()
      const { routes: found } = figuresOf(readMetrics(snapshot, snapshot), { routes, upstreams: [] })
      if (found.length !== count) t.fail(`${found.length} routes`)
      return process.cpuUsage(startedAt).user / 1_000
    })
    return Math.min(...times)
  }
  const few = await cpuMsOf(200)
  const many = await cpuMsOf(2_000)
  // Of all series for each route: a hundred times.
  t.ok(many < 35 * few, `${many} ms for 2,000 routes, ${few} ms for 200`)
})

t.test('the health of a target is shown where it is checked', async (t) => {
  const targets = ['http://10.0.0.1:1', 'http://10.0.0.2:1', 'http://10.0.0.3:1']
  const healthy = {
    name: 'gatehouse_upstream_target_healthy',
    help: 'x',
    type: 'gauge',
    aggregator: 'min',
    values: [1, 0].map((value, index) => ({
      value,
      labels: { upstream: 'a', target: targets[index] ?? '' },
    })),
  }
  // The cast is sound: these are the members of a gauge that are read.
  const snapshot = [healthy] as unknown as MetricsSnapshot
  const config = {
    routes: [],
    store: { driver: 'sqlite', path: '' },
    upstreams: ['a', 'b'].map((name) => ({
      name,
      targets: targets.map((url) => ({ url: new URL(url), weight: 2 })),
    })),
  }
  const reader = openStatusReader({
    // The cast is sound: of the config these are read.
    config: () => config as unknown as Config,
    storeState: () => ({ writesRefused: null, risks: [] }),
    health: () => 'degraded',
    isShuttingDown: () => true,
    snapshot: async () => snapshot,
    version: '1',
    clock: () => 0,
  })
  reader.close()
  const status = await reader.read()
  t.equal(status.status, 'shutting-down')
  t.strictSame(
    status.upstreams.map(({ targets }) => targets.map(({ isHealthy }) => isHealthy)),
    [
      [true, false, null],
      [null, null, null],
    ],
  )
})
