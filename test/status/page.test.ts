import t from 'tap'
import { createMetrics } from '../../src/metrics/metrics.ts'
import { amount, milliseconds, perSecond, share, span } from '../../src/status/amounts.ts'
import { figuresOf } from '../../src/status/figures.ts'
import { statusPage } from '../../src/status/page.ts'
import { readMetrics } from '../../src/status/reading.ts'
import type { Status } from '../../src/status/status.ts'

t.test('amounts are short and exact enough', async (t) => {
  t.strictSame([amount(0), amount(12_345)], ['0', '12,345'])
  t.strictSame([perSecond(0, 0), perSecond(1, 3), perSecond(12_345, 10)], ['0', '0.333', '1,230'])
  t.strictSame([share(0, 0), share(0, 5), share(1, 3), share(5, 5)], ['–', '0%', '33.3%', '100%'])
  t.strictSame([undefined, 0.416, 12.4, 999, 1_000, 29_700].map(milliseconds), [
    '–',
    '0.42 ms',
    '12 ms',
    '999 ms',
    '1 s',
    '30 s',
  ])
  t.strictSame([0, 59, 60, 3_599, 3_600, 11_100, 86_400, 93_600].map(span), [
    '0 s',
    '59 s',
    '1 min',
    '59 min',
    '1 h',
    '3 h 5 min',
    '1 d',
    '1 d 2 h',
  ])
})

t.test('whatever a name holds is text on the page, and each state has its words', async (t) => {
  const metrics = createMetrics({ version: '1' })
  metrics.requests.of('<script>alert(1)</script>', 'GET', '200').value++
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
    store: { driver: 'redis', isUp: false },
    upstreams: [{ name: 'a', targets: [{ url: 'http://a"<i>', weight: 1, isHealthy: false }] }],
    sinceStart: figuresOf(reading, { routes: [], upstreams: [] }),
    recent: null,
  }
  const show = (changes: Partial<Status> = {}) =>
    statusPage({ ...status, ...changes }, { style: '', script: '' }).text
  const text = show()
  t.match(text, '&lt;script&gt;alert(1)')
  t.notMatch(text, /<script>alert|<b>|<i>/)
  for (const words of [
    'since the start',
    'redis does not answer',
    'the last reload was refused',
    '2 workers',
    'out',
  ]) {
    t.match(text, words)
  }
  t.match(show({ status: 'degraded' }), 'known callers are served')
  t.match(show({ status: 'store-unavailable' }), 'the store is out of reach')
  t.match(show({ status: 'shutting-down' }), 'shutting down')
})
