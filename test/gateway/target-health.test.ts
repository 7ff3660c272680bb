import t, { type Test } from 'tap'
import { startBackend } from '../setup/backend.ts'
import { startGateway, type TestGateway } from '../setup/gateway.ts'
import { freePort, until } from '../setup/net.ts'
import { connectRaw } from '../setup/raw-client.ts'
import { ask } from './support/ask.ts'
import { readMetrics } from './support/metrics.ts'
import { assertProblem } from './support/problem.ts'
import { reloadWith, taken } from './support/reload.ts'
import { startMortalBackend } from './support/restartable-backend.ts'

type Options = Readonly<Record<string, unknown>>

const healthy = 'gatehouse_upstream_target_healthy'
const active = { path: '/healthz', interval: '20ms', timeout: '1s', unhealthyAfter: 2, healthyAfter: 2 }

function upstreamsOf(urls: readonly string[], options: Options) {
  return { backend: { targets: urls.map((url) => ({ url })), ...options } }
}

/** A gateway whose one upstream has these targets. */
function start(t: Test, urls: readonly string[], options: Options, config: Options = {}) {
  return startGateway(t, { config: { upstreams: upstreamsOf(urls, options), ...config } })
}

/** Waits until a target is as it should be, as /metrics says. */
function untilHealth({ opsUrl }: TestGateway, target: string, value: number) {
  return until(`${target} is ${value}`, async () => {
    const { samples } = await readMetrics(opsUrl)
    return (
      samples.find(({ name, labels }) => name === healthy && labels.target === target)?.value === value ||
      undefined
    )
  })
}

/** What the log says of changes of health, the upstream left out. */
function changesOf({ logLines }: TestGateway) {
  return logLines
    .map((line) => JSON.parse(line) as Readonly<Record<string, string>>)
    .filter(({ msg }) => msg === 'target ejected' || msg === 'target healthy again')
    .map(({ level, msg, target }) => ({ level, msg, target }))
}

/** GETs on kept connections, until it is stopped. @returns how many there were of each status */
function load(t: Test, url: string, clients: number) {
  const counts = new Map<number, number>()
  let isOver = false
  const running = Array.from({ length: clients }, async () => {
    const client = await connectRaw(t, url)
    while (!isOver) {
      client.send('GET /public HTTP/1.1\r\nHost: x\r\n\r\n')
      const { status } = await client.response()
      counts.set(status, (counts.get(status) ?? 0) + 1)
    }
  })
  return async () => {
    isOver = true
    await Promise.all(running)
    return counts
  }
}

for (const [how, health] of [
  ['checks', { active }],
  ['failed requests', { passive: { maxFailures: 3, window: '10s', ejectFor: '100ms' } }],
  ['both', { active, passive: { maxFailures: 3, window: '10s', ejectFor: '100ms' } }],
] as const) {
  t.test(`a backend dying and returning under load, detected by ${how}, fails no request`, async (t) => {
    const [mortal, other] = [await startMortalBackend(t), await startMortalBackend(t)]
    const gateway = await start(t, [mortal.url, other.url], { health })
    const stop = load(t, gateway.url, 6)
    await until('both are asked', () => (mortal.count() > 20 && other.count() > 20) || undefined)
    for (let round = 1; round <= 2; round++) {
      await mortal.die()
      await untilHealth(gateway, mortal.url, 0)
      const before = { mortal: mortal.count(), other: other.count() }
      await until('the other serves all', () => other.count() > before.other + 50 || undefined)
      t.equal(mortal.count(), before.mortal)
      await mortal.revive()
      await untilHealth(gateway, mortal.url, 1)
      await until('it has its share again', () => mortal.count() > before.mortal + 20 || undefined)
    }
    t.strictSame([...(await stop()).keys()], [200])
    const [out, back] = [
      { level: 'warn', msg: 'target ejected', target: mortal.url },
      { level: 'info', msg: 'target healthy again', target: mortal.url },
    ]
    t.strictSame(changesOf(gateway), [out, back, out, back], 'each change is logged once')
  })
}

t.test('with no healthy target the answer is an immediate 503 that names no target', async (t) => {
  const dead = [`http://127.0.0.1:${await freePort()}`, `http://127.0.0.1:${await freePort()}`]
  const route = { upstream: 'backend', auth: 'none' }
  const routes = [
    { ...route, name: 'public', path: '/public' },
    { ...route, name: 'ws', path: '/ws', websocket: true },
  ]
  const gateway = await start(t, dead, { health: { active } }, { routes })
  for (const url of dead) await untilHealth(gateway, url, 0)
  for (const [line, body] of [
    ['GET /public', undefined],
    ['HEAD /public', undefined],
    ['POST /public', 'x'.repeat(100_000)],
  ] as const) {
    const response = await ask(t, gateway.url, line, [], body)
    t.equal(response.status, 503, line)
    t.match(response.headers['retry-after'], /^[1-9]\d*$/)
    t.notMatch(response.head + response.body, /127\.0\.0\.1|healthy|http:/)
    if (!line.startsWith('HEAD')) assertProblem(t, response, { status: 503, code: 'upstream-unavailable' })
  }
  const upgrade = ['Connection: Upgrade', 'Upgrade: websocket']
  const response = await ask(t, gateway.url, 'GET /ws', upgrade)
  assertProblem(t, response, { status: 503, code: 'upstream-unavailable' })
  const line = await until('the log says why', () =>
    gateway.logLines.find((line) => line.includes('upstream-unavailable')),
  )
  t.match(JSON.parse(line), {
    code: 'upstream-unavailable',
    reason: 'no target is healthy',
    upstream: 'backend',
  })
  const { status } = await ask(t, gateway.opsUrl, 'GET /readyz')
  t.equal(status, 200, 'which is no part of being ready')
})

t.test('a lone target that fails requests is ejected too, and tried again', async (t) => {
  const mortal = await startMortalBackend(t)
  await mortal.die()
  const passive = { maxFailures: 2, window: '10s', ejectFor: '200ms' }
  const gateway = await start(t, [mortal.url], { health: { passive } })
  for (const status of [502, 502, 503]) t.equal((await ask(t, gateway.url, 'GET /public')).status, status)
  await mortal.revive()
  await until(
    'it answers again',
    async () => (await ask(t, gateway.url, 'GET /public')).status === 200 || undefined,
  )
  await untilHealth(gateway, mortal.url, 1)
})

t.test('targets without checks count as healthy, and their failures are answered as 502', async (t) => {
  const dead = `http://127.0.0.1:${await freePort()}`
  const gateway = await start(t, [dead], {})
  for (let turn = 0; turn < 8; turn++) t.equal((await ask(t, gateway.url, 'GET /public')).status, 502)
  await untilHealth(gateway, dead, 1)
})

t.test('ipHash uses the client address that a trusted proxy reports', async (t) => {
  const backends = await Promise.all([1, 2, 3].map(() => startBackend(t)))
  const urls = backends.map(({ url }) => url)
  const clients = Array.from({ length: 30 }, (_, index) => `X-Forwarded-For: 192.0.2.${index + 1}`)
  const reached = () => backends.filter(({ seen }) => seen.length > 0).length
  const unknown = await start(t, urls, { balancing: 'ipHash' })
  for (const client of clients) await ask(t, unknown.url, 'GET /public', [client])
  t.equal(reached(), 1, 'an untrusted peer is one client, whatever it claims')
  const trusting = await start(t, urls, { balancing: 'ipHash' }, { trustedProxies: ['127.0.0.1/32'] })
  const places = new Map<string, string>()
  for (let round = 0; round < 3; round++) {
    for (const client of clients) {
      for (const { seen } of backends) seen.length = 0
      await ask(t, trusting.url, 'GET /public', [client])
      const place = backends.find(({ seen }) => seen.length > 0)?.url ?? ''
      t.equal(place, places.get(client) ?? place)
      places.set(client, place)
    }
  }
  t.equal(new Set(places.values()).size, 3)
})

t.test('a reload keeps the health of targets that stay, and forgets those that go', async (t) => {
  const dead = `http://127.0.0.1:${await freePort()}`
  const [one, other] = [await startBackend(t), await startBackend(t)]
  const passive = { maxFailures: 1, window: '10s', ejectFor: '1h' }
  const gateway = await start(t, [dead, one.url], { health: { passive } })
  for (let turn = 0; turn < 2; turn++) t.equal((await ask(t, gateway.url, 'GET /public')).status, 200)
  await untilHealth(gateway, dead, 0)
  const next = upstreamsOf([dead, other.url], { balancing: 'leastRequests', health: { passive } })
  t.match(await reloadWith(gateway, { upstreams: next }), taken)
  const { samples } = await readMetrics(gateway.opsUrl)
  t.strictSame(
    samples.filter(({ name }) => name === healthy).map(({ labels, value }) => [labels.target, value]),
    [
      [dead, 0],
      [other.url, 1],
    ],
  )
  for (let turn = 0; turn < 4; turn++) await ask(t, gateway.url, 'GET /public')
  t.equal(changesOf(gateway).length, 1)
  const watchedOtherwise = upstreamsOf([dead, other.url], {
    health: { passive: { ...passive, maxFailures: 3 } },
  })
  t.match(await reloadWith(gateway, { upstreams: watchedOtherwise }), taken)
  await untilHealth(gateway, dead, 1)
})

t.test('a reload that ends the checks returns the targets they had taken out', async (t) => {
  const sick = await startBackend(t, (request, response) => {
    response.writeHead(request.url === '/healthz' ? 500 : 200).end('served')
  })
  const gateway = await start(t, [sick.url], { health: { active } })
  await untilHealth(gateway, sick.url, 0)
  t.equal((await ask(t, gateway.url, 'GET /public')).status, 503)
  t.match(await reloadWith(gateway, { upstreams: upstreamsOf([sick.url], {}) }), taken)
  t.equal((await ask(t, gateway.url, 'GET /public')).body, 'served')
  await untilHealth(gateway, sick.url, 1)
  const checks = () => sick.seen.filter(({ url }) => url === '/healthz').length
  const before = checks()
  for (let turn = 0; turn < 50; turn++) await ask(t, gateway.url, 'GET /public')
  t.ok(checks() <= before + 1, 'and nobody checks any more')
})
