import t from 'tap'
import { createMetrics } from '../../src/metrics/metrics.ts'
import { figuresOf } from '../../src/status/figures.ts'
import { statusPage } from '../../src/status/page.ts'
import { readMetrics } from '../../src/status/read-metrics.ts'
import type { Status } from '../../src/status/status.ts'

t.test('names are escaped on the status page, and each state has its text', async (t) => {
  const metrics = createMetrics({ version: '1' })
  metrics.requests.labels('<script>alert(1)</script>', 'GET', '200').value++
  const reading = readMetrics(await metrics.snapshot())
  const status: Status = {
    status: 'ok',
    version: '1"<b>',
    at: new Date(0).toISOString(),
    uptimeS: 1,
    workers: 2,
    inFlight: 0,
    webSocketsOpen: 0,
    lastReloadSuccessful: false,
    store: { driver: 'redis', isUp: false, isWritable: false, writesRefused: null, risks: [] },
    upstreams: [{ name: 'a', targets: [{ url: 'http://a"<i>', weight: 1, isHealthy: false }] }],
    sinceStart: figuresOf(reading, { routes: [], upstreams: [] }),
    recent: null,
    series: [],
  }
  const show = (changes: Partial<Status> = {}) =>
    statusPage({ ...status, ...changes }, { style: '', script: '' }).text
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
