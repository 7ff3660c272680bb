import { once } from 'node:events'
import { createServer as createHttp2Server } from 'node:http2'
import t, { type Test } from 'tap'
import { startBackend } from '../setup/backend.ts'
import { startGateway } from '../setup/gateway.ts'
import { portOf, until } from '../setup/net.ts'
import { ask } from './support/ask.ts'
import { readMetrics } from './support/metrics.ts'
import { openWebSocket, startWebSocketBackend } from './support/web-socket.ts'

const route = { upstream: 'backend', auth: 'none' }
const routes = [
  { ...route, name: 'whole', path: '/' },
  { ...route, name: 'orders', path: '/orders', stripPrefix: true },
  { ...route, name: 'realtime', path: '/realtime', rewrite: '/socket' },
]

/** A backend that says of its own paths what the field `to` asks for, with the URL that it got as its body. */
async function startTelling(t: Test, protocol: 'http1' | 'http2'): Promise<string> {
  const fieldsFor = (to: string) => ({
    location: to,
    'content-location': to,
    refresh: `5; url=${to}`,
    link: `<${to}>; rel=next, </else>; rel=prev`,
    'set-cookie': `a=b; Path=${to}; Secure`,
  })
  if (protocol === 'http1') {
    const { url } = await startBackend(t, (request, response) => {
      response.writeHead(200, fieldsFor(String(request.headers.to))).end(request.url)
    })
    return url
  }
  const server = createHttp2Server((request, response) => {
    response.writeHead(200, fieldsFor(String(request.headers.to))).end(request.url)
  }).listen(0, '127.0.0.1')
  const sessions = new Set<{ destroy(): void }>()
  server.on('session', (session) => sessions.add(session))
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    for (const session of sessions) session.destroy()
  })
  return `http://127.0.0.1:${portOf(server)}`
}

for (const protocol of ['http1', 'http2'] as const) {
  t.test(`a base path precedes every path, and never reaches the client: ${protocol}`, async (t) => {
    const url = await startTelling(t, protocol)
    const upstreams = { backend: { targets: [{ url: `${url}/base/api/` }], protocol } }
    const gateway = await startGateway(t, { config: { upstreams, routes } })
    for (const [path, got, says, expected] of [
      ['/', '/base/api/', '/base/api/x', '/x'],
      ['/?q=/base/api', '/base/api/?q=/base/api', '/base/api', '/'],
      ['/a/b?c', '/base/api/a/b?c', '/base/api/', '/'],
      // Outside of the base path no request leads: nothing better is known than what the backend says.
      ['/a', '/base/api/a', '/base/apix', '/base/apix'],
      ['/a', '/base/api/a', '/else', '/else'],
      ['/orders', '/base/api/', '/base/api/x', '/orders/x'],
      ['/orders/x', '/base/api/x', '/base/api/orders', '/orders/orders'],
      ['/realtime/x', '/base/api/socket/x', '/base/api/socket/y', '/realtime/y'],
    ] as const) {
      const { headers, body } = await ask(t, gateway.url, `GET ${path}`, [`to: ${says}`])
      t.equal(body, got, path)
      t.equal(headers.location, expected, says)
      t.equal(headers['content-location'], expected)
      t.equal(headers.refresh, `5; url=${expected}`)
      t.equal(headers.link, `<${expected}>; rel=next, </else>; rel=prev`)
      t.equal(headers['set-cookie'], `a=b; Path=${expected}; Secure`)
    }
    const { headers } = await ask(t, gateway.url, 'GET /orders/x', [`to: ${url}/base/api/y?z`])
    t.equal(headers.location, 'http://gateway.test/orders/y?z', "of the target's own origin")
  })
}

t.test('each target has its own base path, also for checks and in its name', async (t) => {
  const backend = await startBackend(t)
  const targets = ['/a', '/b', ''].map((base) => ({ url: backend.url + base }))
  const active = { path: '/healthz?deep', interval: '20ms' }
  const gateway = await startGateway(t, {
    config: { upstreams: { backend: { targets, health: { active } } } },
  })
  await until('each was checked', () => {
    const checked = new Set(backend.seen.map(({ url }) => url))
    return ['/a/healthz?deep', '/b/healthz?deep', '/healthz?deep'].every((url) => checked.has(url))
  })
  const asked = new Set<string>()
  for (let count = 0; count < 3; count++) {
    await ask(t, gateway.url, 'GET /public/x')
    asked.add(backend.seen.findLast(({ url }) => url.endsWith('/x'))?.url ?? '')
  }
  t.strictSame([...asked].toSorted(), ['/a/public/x', '/b/public/x', '/public/x'])
  const { samples } = await readMetrics(gateway.opsUrl)
  const named = samples.filter(({ name }) => name === 'gatehouse_upstream_target_healthy')
  t.strictSame(named.map(({ labels }) => labels.target).toSorted(), targets.map(({ url }) => url).toSorted())
})

t.test('WebSockets and a Destination of WebDAV are below the base path too', async (t) => {
  const backend = await startWebSocketBackend(t)
  const upstreams = { backend: { targets: [{ url: `${backend.url}/base` }] } }
  const gateway = await startGateway(t, {
    config: {
      upstreams,
      routes: [{ ...route, name: 'ws', path: '/ws', stripPrefix: true, websocket: true }],
    },
  })
  await openWebSocket(t, `${gateway.url}/ws/chat`)
  t.equal(backend.upgrades[0]?.url, '/base/chat')

  for (const [destination, expected] of [
    ['forwarded', 'http://gateway.test/base/y'],
    ['public', 'http://gateway.test/ws/y'],
    ['target', `${backend.url}/base/y`],
  ] as const) {
    const dav = await startGateway(t, {
      config: {
        upstreams: {
          backend: { ...upstreams.backend, host: destination === 'target' ? 'target' : 'client' },
        },
        routes: [{ ...route, name: 'dav', path: '/ws', stripPrefix: true, destination }],
      },
    })
    const tagged = 'If: <http://gateway.test/ws/y> (<opaquelocktoken:1>)'
    await ask(t, dav.url, 'MOVE /ws/x', ['Destination: http://gateway.test/ws/y', tagged])
    t.equal(backend.ordinary.at(-1)?.url, '/base/x')
    t.equal(backend.ordinary.at(-1)?.headers.destination, expected)
    t.equal(backend.ordinary.at(-1)?.headers.if, '<http://gateway.test/base/y> (<opaquelocktoken:1>)')
  }
})
