import t from 'tap'
import { openMetrics } from '#ops/metrics/metrics.ts'
import { figuresOf } from '#ops/status/figures.ts'
import { readMetrics } from '#ops/status/read-metrics.ts'
import type { Status } from '#ops/status/status.ts'
import { statusPage } from '#ops/status/status-page.ts'

/** The status of a gateway that has just started. */
function statusOf(sinceStart: Status['sinceStart'], changes: Partial<Status> = {}): Status {
  return {
    status: 'ok',
    version: '1"<b>',
    at: new Date(0).toISOString(),
    uptimeS: 1,
    workers: 2,
    inFlight: 0,
    webSocketsOpen: 0,
    lastReloadSuccessful: false,
    store: { driver: 'redis', isUp: false, isWritable: false, writesRefused: null, risks: [] },
    upstreams: [
      {
        name: 'a',
        targets: [
          { url: 'http://a"<i>', weight: 1, isHealthy: false, addresses: { healthy: 2, ejected: 1 } },
        ],
      },
    ],
    sinceStart,
    recent: null,
    series: [],
    ...changes,
  }
}

const textOf = (status: Status) => statusPage(status, { style: '', script: '' }).text

t.test('names are escaped on the status page, and each state has its text', async (t) => {
  const metrics = openMetrics({ version: '1' })
  metrics.requests.labels('<script>alert(1)</script>', 'GET', '200').value++
  const reading = readMetrics(await metrics.snapshot())
  const figures = figuresOf(reading, { routes: [], upstreams: [] })
  const show = (changes: Partial<Status> = {}) => textOf(statusOf(figures, changes))
  const text = show()
  t.match(text, '&lt;script&gt;alert(1)')
  t.notMatch(text, /<script>alert|<b>|<i>/)
  for (const words of ['Since start', 'redis down', 'last reload failed', '2 workers', 'unhealthy']) {
    t.match(text, words)
  }
  t.match(show({ status: 'degraded' }), 'cached callers are served; other callers')
  t.match(show({ status: 'store-unavailable' }), 'credential store unavailable')
  t.match(show({ status: 'shutting-down' }), 'shutting down')
})

t.test('the status page has rows for the 200 busiest routes, in their order, and says so', async (t) => {
  const namesIn = async (count: number) => {
    const metrics = openMetrics({ version: '1' })
    metrics.close()
    const routes = Array.from({ length: count }, (_, index) => ({ name: `route-${index}` }))
    for (const [index, { name }] of routes.entries())
      metrics.requests.labels(name, 'GET', '200').value += index === 7 ? 0 : 1
    const text = textOf(statusOf(figuresOf(readMetrics(await metrics.snapshot()), { routes, upstreams: [] })))
    const names = [...text.matchAll(/<code>(route-\d+)<\/code>/g)].map(([, name]) => name)
    return { names, isCut: text.includes('The 200 with the most requests, of 201.'), routes }
  }
  const whole = await namesIn(200)
  t.strictSame(
    whole.names,
    whole.routes.map(({ name }) => name),
  )
  t.equal(whole.isCut, false)
  const cut = await namesIn(201)
  t.strictSame(
    cut.names,
    cut.routes.map(({ name }) => name).filter((name) => name !== 'route-7'),
  )
  t.equal(cut.isCut, true)
  t.equal((await namesIn(3_000)).names.length, 200)
})
