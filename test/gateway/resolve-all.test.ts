import { once } from 'node:events'
import { createServer } from 'node:http'
import t, { type Test } from 'tap'
import { type NameServer, startNameServer } from '../setup/dns-server.ts'
import { startGateway, type TestGateway } from '../setup/gateway.ts'
import { freePort, until } from '../setup/net.ts'
import { ask } from './support/ask.ts'
import { createCookieJar } from './support/cookie-jar.ts'
import { readMetrics } from './support/metrics.ts'
import { reloadWith, taken } from './support/reload.ts'

const host = 'orders.test'

/** Backends at one port of several loopback addresses, each of which says its address. */
async function startAt(t: Test, addresses: readonly string[]) {
  const port = await freePort()
  const servers = new Map<string, { die(): void }>()
  for (const address of addresses) {
    const server = createServer((request, response) => {
      response.end(`${address} ${request.headers.host}`)
    }).listen(port, address)
    await once(server, 'listening')
    const die = () => {
      server.close()
      server.closeAllConnections()
    }
    t.teardown(die)
    servers.set(address, { die })
  }
  return { url: `http://${host}:${port}`, port, servers }
}

/** The addresses that so many requests reach. */
async function reached(t: Test, { url }: TestGateway, count = 8): Promise<readonly string[]> {
  const seen = new Set<string>()
  for (let index = 0; index < count; index++)
    seen.add((await ask(t, url, 'GET /public/x')).body.split(' ')[0] ?? '')
  return [...seen].toSorted()
}

function untilReached(t: Test, gateway: TestGateway, expected: readonly string[]) {
  return until(`requests reach ${expected.join()}`, async () => {
    const seen = await reached(t, gateway)
    return seen.join() === expected.join() || undefined
  })
}

async function start(t: Test, server: NameServer, addresses: readonly string[], upstream: object = {}) {
  const backends = await startAt(t, addresses)
  server.names.set(host, addresses)
  const backend = { targets: [{ url: backends.url }], resolve: 'all', ...upstream }
  const gateway = await startGateway(t, { config: { upstreams: { backend } } })
  return { ...backends, gateway, backend }
}

const [one, two, three] = ['127.0.0.11', '127.0.0.12', '127.0.0.13'] as const

t.test('each address of a name is a target, and changes are followed', async (t) => {
  const server = await startNameServer(t)
  const { gateway, url } = await start(t, server, [one, two, three], { host: 'target' })
  await untilReached(t, gateway, [one, two, three])
  const { body } = await ask(t, gateway.url, 'GET /public/x')
  t.match(body, new RegExp(` ${new URL(url).host}$`), 'the Host is still the name')

  server.names.set(host, [two])
  await untilReached(t, gateway, [two])
  server.names.set(host, [three, one])
  await untilReached(t, gateway, [one, three])
  t.match(gateway.logLines.join(''), `"addresses":["${one}","${three}"]`)

  const { samples } = await readMetrics(gateway.opsUrl)
  const of = (metric: string) => samples.filter(({ name }) => name === metric)
  t.strictSame(
    of('gatehouse_upstream_target_healthy').map(({ labels }) => labels.target),
    [url],
  )
  t.strictSame(
    of('gatehouse_upstream_target_addresses').map(({ labels, value }) => [
      labels.target,
      labels.state,
      value,
    ]),
    [
      [url, 'healthy', 2],
      [url, 'ejected', 0],
    ],
  )
  const status = (await (await fetch(`${gateway.opsUrl}/status?json`)).json()) as {
    readonly upstreams: unknown
  }
  t.match(status.upstreams, [{ targets: [{ url, addresses: { healthy: 2, ejected: 0 } }] }])
})

t.test('a name that stops resolving keeps its last addresses, also through a reload', async (t) => {
  const server = await startNameServer(t)
  const { gateway, backend } = await start(t, server, [one, two])
  await untilReached(t, gateway, [one, two])
  server.names.delete(host)
  await until(
    'it is logged',
    () => gateway.logLines.some((line) => line.includes('target not resolved')) || undefined,
  )
  t.strictSame(await reached(t, gateway), [one, two])
  t.match(await reloadWith(gateway, { upstreams: { backend: { ...backend, connections: 64 } } }), taken)
  t.strictSame(await reached(t, gateway), [one, two])
  server.names.set(host, 'fail')
  t.strictSame(await reached(t, gateway), [one, two])
})

t.test('each address has a health of its own', async (t) => {
  const server = await startNameServer(t)
  const active = { path: '/healthz', interval: '20ms', unhealthyAfter: 1, healthyAfter: 1 }
  const { gateway, servers, url } = await start(t, server, [one, two], { health: { active } })
  await untilReached(t, gateway, [one, two])
  servers.get(one)?.die()
  await untilReached(t, gateway, [two])
  await until('the log says so', () =>
    gateway.logLines.join('').includes(`"target":"${url} (${one})","reason"`),
  )
  await until('an address is counted as ejected', async () => {
    const { samples } = await readMetrics(gateway.opsUrl)
    const ejected = samples.find(
      ({ name, labels }) => name === 'gatehouse_upstream_target_addresses' && labels.state === 'ejected',
    )
    return ejected?.value === 1 || undefined
  })
})

t.test('sticky clients stay with an address, and leave it when it goes', async (t) => {
  const server = await startNameServer(t)
  const { gateway } = await start(t, server, [one, two, three], { balancing: 'sticky' })
  await untilReached(t, gateway, [one, two, three])
  const jar = createCookieJar(t, gateway.url)
  const addressOf = async () => (await jar.ask('GET /public/x')).body.split(' ')[0] ?? ''
  const own = await addressOf()
  for (let count = 0; count < 5; count++) t.equal(await addressOf(), own)
  server.names.set(
    host,
    [one, two, three].filter((address) => address !== own),
  )
  await until('the client moves', async () => (await addressOf()) !== own || undefined)
  const next = await addressOf()
  for (let count = 0; count < 5; count++) t.equal(await addressOf(), next)
})
