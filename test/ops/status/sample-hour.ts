import { openMetrics } from '#ops/metrics/metrics.ts'
import { historyMs, sampleMs } from '#ops/status/history.ts'
import { openStatusReader, type Status } from '#ops/status/status.ts'

const routes = [
  { name: 'orders', share: 60, latencyMs: 12 },
  { name: 'reports', share: 9, latencyMs: 80 },
  { name: 'models', share: 22, latencyMs: 35 },
]

/** What a status page shows after an hour of made-up traffic, the same at every call. */
export async function sampleHour(): Promise<Status> {
  const metrics = openMetrics({ version: '0.1.0' })
  let now = Date.parse('2026-11-20T12:00:00Z')
  const reader = openStatusReader({
    config: () => ({
      routes,
      store: { driver: 'redis' },
      upstreams: ['orders', 'models'].map((name) => ({ name, targets: targetsOf(name) })),
    }),
    health: () => 'ok',
    storeState: () => ({ writesRefused: null, risks: [] }),
    isShuttingDown: () => false,
    snapshot: () => metrics.snapshot(),
    version: '0.1.0',
    clock: () => now,
  })
  let last = await reader.read()
  metrics.storeUp.set(1)
  metrics.storeWritable.set(1)
  metrics.lastReload.set(1)
  metrics.workersUp.set(2)
  metrics.collectTargetHealth(() =>
    ['orders', 'models'].flatMap((upstream) =>
      targetsOf(upstream).map(({ url }) => ({ upstream, target: url.origin, isHealthy: true })),
    ),
  )
  metrics.keyCache.labels('hit').value += 98_000
  metrics.keyCache.labels('miss').value += 410
  for (let turn = 0; turn * sampleMs <= historyMs; turn++) {
    for (const route of routes) count(metrics, route, turn)
    metrics.decisions.labels('secretKey', 'refused', 'secret-key-invalid').value += wave(turn, 23, 9)
    metrics.decisions.labels('bearer', 'refused', 'token-expired').value += wave(turn, 41, 5)
    metrics.decisions.labels('bearer', 'refused', 'role-forbidden').value += wave(turn, 31, 2)
    now += sampleMs
    last = await reader.read()
  }
  reader.close()
  return last
}

function targetsOf(name: string) {
  return [1, 2].map((number) => ({ url: new URL(`http://${name}-${number}.internal:3000`), weight: 1 }))
}

/** A count that rises and falls around its middle. */
function wave(turn: number, period: number, middle: number): number {
  return Math.round(middle * (1 + 0.7 * Math.sin(turn / period)))
}

type Route = (typeof routes)[number]

/** Rises and falls twice in the hour, as traffic does. */
function count(
  metrics: ReturnType<typeof openMetrics>,
  { name, share, latencyMs }: Route,
  turn: number,
): void {
  const factor = 1 + 0.4 * Math.sin(turn / 19) + 0.15 * Math.sin(turn / 3)
  const requests = Math.round(share * factor * 15)
  metrics.requests.labels(name, 'GET', '200', '').value += requests
  metrics.requests.labels(name, 'GET', '401', '').value += turn % 4
  if (turn % 60 === 40) metrics.requests.labels(name, 'GET', '502', '').value += 3
  const duration = metrics.requestDuration.labels(name, '')
  const upstream = metrics.upstreamDuration.labels(name === 'models' ? 'models' : 'orders')
  for (let index = 0; index < requests; index++) {
    const ms = latencyMs * (0.6 + ((index * 7) % 10) / 10) * (0.8 + factor / 5)
    duration.observe(ms / 1_000)
    upstream.observe(ms / 1_000)
    metrics.overhead.labels().observe((0.05 + ((index * 3) % 10) / 100) / 1_000)
  }
}
