import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { startBoth } from '../setup/both.ts'
import { freePort, until } from '../setup/net.ts'

// needs: promtool

interface Target {
  readonly labels: { readonly job: string }
  readonly health: string
  readonly lastError: string
}

interface Result {
  readonly result: readonly { readonly value: readonly [number, string] }[]
}

t.test('Prometheus scrapes through the gateway with a key in each way that it knows', async (t) => {
  const keys = { sealingKey: { file: 'sealing.key' }, accept: ['SecretKey', 'bearer', 'basic'] }
  const { backend, gateway } = await startBoth(t, {
    answer: (_request, response) => {
      response.setHeader('Content-Type', 'text/plain; version=0.0.4')
      response.end('orders_total 42\n')
    },
    config: { keys },
  })
  const { account, secretKey } = await gateway.createAccount()
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-scrape-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const ways = {
    bearer: { authorization: { credentials: secretKey } },
    basic: { basic_auth: { username: 'prometheus', password: secretKey } },
    wrong: { authorization: { credentials: `${secretKey.slice(0, -1)}_` } },
  }
  const scrape_configs = Object.entries(ways).map(([job_name, way]) => ({
    job_name,
    metrics_path: '/key/metrics',
    scrape_interval: '1s',
    static_configs: [{ targets: [new URL(gateway.url).host] }],
    ...way,
  }))
  const file = join(folder, 'prometheus.yml')
  writeFileSync(file, JSON.stringify({ scrape_configs }))
  const api = await startPrometheus(t, folder, file)
  const targets = await until('every job has scraped', async () => {
    const data = await api<{ readonly activeTargets: readonly Target[] }>('targets')
    const found = data?.activeTargets ?? []
    return found.length === 3 && found.every(({ health }) => health !== 'unknown') ? found : undefined
  })
  const healths = targets.map(({ labels, health, lastError }) => [labels.job, health, lastError])
  t.strictSame(healths.toSorted(), [
    ['basic', 'up', ''],
    ['bearer', 'up', ''],
    ['wrong', 'down', 'server returned HTTP status 401 Unauthorized'],
  ])
  t.equal(backend.last().headers['x-user-id'], account.id)
  const result = await until('the value is stored', async () => {
    const data = await api<Result>('query?query=orders_total')
    return data && data.result.length === 2 ? data.result : undefined
  })
  for (const { value } of result) t.equal(value[1], '42')
})

t.test('Prometheus takes the metrics as OpenMetrics, with exemplars', async (t) => {
  const otlp = { endpoint: 'http://127.0.0.1:1', sampleRatio: 1 }
  const { backend, gateway } = await startBoth(t, { config: { tracing: { otlp } } })
  const { secretKey } = await gateway.createAccount()
  await fetch(`${gateway.url}/key/x`, { headers: { SecretKey: secretKey } })
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-scrape-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const static_configs = [{ targets: [new URL(gateway.opsUrl).host] }]
  const file = join(folder, 'prometheus.yml')
  writeFileSync(
    file,
    JSON.stringify({ scrape_configs: [{ job_name: 'gatehouse', scrape_interval: '1s', static_configs }] }),
  )
  const api = await startPrometheus(t, folder, file)
  const query = new URLSearchParams({
    query: 'gatehouse_http_request_duration_seconds_bucket{route="key"}',
    start: String(Date.now() / 1_000 - 60),
    end: String(Date.now() / 1_000 + 60),
  })
  const found = await until('there is an exemplar', async () => {
    const data = await api<readonly ExemplarsOfSeries[]>(`query_exemplars?${query}`)
    return data && data.length > 0 ? data : undefined
  })
  const traceId = String(backend.last().headers.traceparent).split('-')[1]
  t.strictSame(
    found.flatMap(({ exemplars }) => exemplars.map(({ labels }) => labels)),
    [{ trace_id: traceId }],
  )
  const up = await api<Result>('query?query=gatehouse_http_requests_total{route="key"}')
  t.strictSame(
    up?.result.map(({ value }) => value[1]),
    ['1'],
    'a counter has its usual name',
  )
})

interface ExemplarsOfSeries {
  readonly exemplars: readonly { readonly labels: Readonly<Record<string, string>> }[]
}

/** Starts it. @returns asks its API; undefined = it gave no data */
async function startPrometheus(t: Test, folder: string, file: string) {
  const port = await freePort()
  const child = spawn(
    'prometheus',
    [
      `--config.file=${file}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--enable-feature=exemplar-storage',
    ],
    { stdio: 'ignore' },
  )
  t.teardown(async () => {
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  return async <Data>(path: string): Promise<Data | undefined> => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`).catch(() => undefined)
    return response?.ok ? ((await response.json()) as { readonly data: Data }).data : undefined
  }
}
