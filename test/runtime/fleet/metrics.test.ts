import t from 'tap'
import type { Status } from '#ops/status/status.ts'
import { readMetrics } from '../../gateway/support/metrics.ts'
import { startBackend } from '../../setup/backend.ts'
import { freePort, until } from '../../setup/net.ts'
import { get, serveFleet, untilAllAnswer } from './fleet.ts'

// slow: starts several fleets

const total = 'gatehouse_http_requests_total'

t.test('/metrics covers all workers, counters summed and gauges combined', async (t) => {
  const backend = await startBackend(t)
  const fleet = await serveFleet(t, { backend: backend.url })
  await untilAllAnswer(fleet)
  const sent = backend.seen.length
  const { types, samples, value } = await until('all are counted', async () => {
    const now = await readMetrics(fleet.opsUrl)
    return now.value(total) === sent ? now : undefined
  })
  t.equal(value(total, { route: 'all', code: '200' }), sent)
  t.equal(value('gatehouse_http_request_duration_seconds_count', { route: 'all' }), sent)
  t.equal(value('gatehouse_upstream_request_duration_seconds_bucket', { le: '+Inf' }), sent)
  t.equal(value('gatehouse_workers'), 2)
  t.equal(value('gatehouse_store_up'), 1, 'the least of them, not their sum')
  t.equal(value('gatehouse_upstream_target_healthy', { target: backend.url }), 1)
  t.equal(value('gatehouse_http_requests_in_flight'), 0)
  t.equal(samples.filter(({ name }) => name === 'gatehouse_build_info').length, 1)
  t.equal(value('gatehouse_build_info'), 1)
  t.equal(value('gatehouse_config_last_reload_successful'), 1)
  t.equal(types.get('process_cpu_seconds_total'), 'counter')
})

t.test('a target that one worker ejected is shown as out', async (t) => {
  const dead = `http://127.0.0.1:${await freePort()}`
  const health = { passive: { maxFailures: 1, window: '10s', ejectFor: '1h' } }
  const upstreams = { backend: { targets: [{ url: dead }], health } }
  const fleet = await serveFleet(t, { config: { upstreams } })
  const read = async () =>
    (await readMetrics(fleet.opsUrl)).samples.filter(
      ({ name }) => name === 'gatehouse_upstream_target_healthy',
    )
  t.match(await read(), [{ labels: { upstream: 'backend', target: dead }, value: 1 }])
  t.equal(await get(`${fleet.url}/x`), 502)
  t.match(await read(), [{ labels: { upstream: 'backend', target: dead }, value: 0 }])
  const ejections = () => fleet.lines().filter(({ msg }) => msg === 'target ejected')
  await until('the log says it', () => ejections().length > 0 || undefined)
  t.match(ejections(), [{ level: 'warn', upstream: 'backend', target: dead, worker: Number }])
})

t.test('counts of a killed worker are kept, and no counter goes back', async (t) => {
  const backend = await startBackend(t)
  const fleet = await serveFleet(t, { backend: backend.url })
  let last = 0
  let isOver = false
  const watching = (async () => {
    while (!isOver) {
      const now = (await readMetrics(fleet.opsUrl)).value(total)
      if (now < last) t.fail(`${total} went from ${last} to ${now}`)
      last = now
    }
  })()
  for (let round = 1; round <= 2; round++) {
    await untilAllAnswer(fleet)
    const sent = backend.seen.length
    await until('all are counted', () => last === sent || undefined)
    process.kill(fleet.pids()[round - 1] ?? 0, 'SIGKILL')
    await until('it is replaced', () => fleet.pids().length === 2 + round || undefined, 30_000)
    t.equal((await readMetrics(fleet.opsUrl)).value(total), sent)
  }
  t.equal(await get(`${fleet.url}/x`), 200)
  await until('it is counted too', () => last === backend.seen.length || undefined)
  isOver = true
  await watching
  const { value } = await readMetrics(fleet.opsUrl)
  t.equal(value('gatehouse_worker_deaths_total'), 2)
  t.equal(value('gatehouse_workers'), 2)
})

t.test('exemplars of all workers are in the merged metrics', async (t) => {
  const backend = await startBackend(t)
  const otlp = { endpoint: 'http://127.0.0.1:1', sampleRatio: 1 }
  const fleet = await serveFleet(t, { backend: backend.url, config: { tracing: { otlp } } })
  await untilAllAnswer(fleet)
  const headers = { Accept: 'application/openmetrics-text' }
  const ids = await until('there is one of the last bucket', async () => {
    const text = await (await fetch(`${fleet.opsUrl}/metrics`, { headers })).text()
    const found = [
      ...text.matchAll(/_duration_seconds_bucket\{le="[^"]+",route="all"\} \d+ # \{trace_id="(\w{32})"\}/g),
    ]
    return found.length > 0 ? found.map(([, id = '']) => id) : undefined
  })
  const sent = backend.seen.map(({ headers: { traceparent } }) => String(traceparent).split('-')[1])
  for (const id of ids) t.ok(sent.includes(id), 'the backend got it too')
})

t.test('the status page covers all workers', async (t) => {
  const backend = await startBackend(t)
  const fleet = await serveFleet(t, { backend: backend.url })
  await untilAllAnswer(fleet)
  const sent = backend.seen.length
  const status = await until('all are counted', async () => {
    const now = (await (await fetch(`${fleet.opsUrl}/status?json`)).json()) as Status
    return now.sinceStart.requests === sent ? now : undefined
  })
  t.match(status, {
    status: 'ok',
    workers: 2,
    inFlight: 0,
    store: { isUp: true },
    lastReloadSuccessful: true,
  })
  t.match(status.sinceStart.routes, [{ name: 'all', requests: sent, failed: 0 }])
})
