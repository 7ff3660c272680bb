import t, { type Test } from 'tap'
import { startBackend } from '../setup/backend.ts'
import { startBoth } from '../setup/both.ts'
import { notInApp, startGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { connectRaw } from '../setup/raw-client.ts'
import { ask, withoutRequestId } from './support/ask.ts'
import { startWebSocketBackend, upgradeLines } from './support/web-socket.ts'

const route = { upstream: 'backend', auth: 'none' }
const routes = [
  { ...route, name: 'orders', path: '/orders', stripPrefix: true },
  { ...route, name: 'whole', path: '/whole' },
  { ...route, name: 'root', path: '/', stripPrefix: true },
  { ...route, name: 'realtime', path: '/realtime/v1', rewrite: '/socket/', websocket: true },
]

/** Answers with the status and the Location that the query asks for. */
function startRedirecting(t: Test) {
  return startBackend(t, (request, response) => {
    const query = new URL(request.url ?? '', 'http://x').searchParams
    const location = (query.get('to') ?? '').replace('HOST', request.headers.host ?? '')
    response
      .writeHead(Number(query.get('status') ?? 302), { Location: location, 'Content-Location': location })
      .end()
  })
}

const noRequestLog = { skip: notInApp('an app logs its requests itself') }

t.test('Location and Content-Location get a stripped prefix back', async (t) => {
  const backend = await startRedirecting(t)
  for (const host of ['client', 'target']) {
    const upstreams = { backend: { targets: [{ url: backend.url }], host } }
    const gateway = await startGateway(t, { config: { upstreams, routes } })
    for (const [status, to, expected] of [
      [201, '/made/1', '/orders/made/1'],
      [302, '/sign-in?next=/x', '/orders/sign-in?next=/x'],
      [308, 'http://HOST/x', 'http://gateway.test/orders/x'],
      [201, `${backend.url}/x`, 'http://gateway.test/orders/x'],
      [202, '/jobs/1', '/orders/jobs/1'],
      [302, '/orders/x', '/orders/x'],
      [302, '../x', '../x'],
      [302, 'https://id.example.com/x', 'https://id.example.com/x'],
      [302, '//id.example.com/x', '//id.example.com/x'],
    ] as const) {
      const target = `/orders/a/b?status=${status}&to=${encodeURIComponent(to)}`
      const { headers } = await ask(t, gateway.url, `GET ${target}`)
      t.equal(headers.location, expected, `${host}: ${to}`)
      t.equal(headers['content-location'], expected)
    }
    for (const path of ['/whole', '/other']) {
      const { headers } = await ask(t, gateway.url, `GET ${path}?to=/x`)
      t.equal(headers.location, '/x', 'of a route that strips nothing')
    }
  }
})

t.test(
  'the backend gets the stripped prefix in X-Forwarded-Prefix, whatever the client claims',
  async (t) => {
    const backend = await startBackend(t)
    const claims = ['X-Forwarded-Prefix: /evil', 'x_forwarded_prefix: /evil', 'X.Forwarded.Prefix: /evil']
    for (const [trustedProxies, expected] of [
      [[], '/orders'],
      [['127.0.0.1'], '/evil/orders'],
    ] as const) {
      const gateway = await startGateway(t, { backend: backend.url, config: { routes, trustedProxies } })
      for (const [sent, prefix] of [
        [[], '/orders'],
        [claims, expected],
        // The same bytes again, from the head cache.
        [claims, expected],
        [claims, expected],
      ] as const) {
        await ask(t, gateway.url, 'GET /orders/x', sent)
        t.equal(backend.last().url, '/x')
        const named = backend
          .last()
          .rawHeaders.filter((_, index, all) => /prefix/i.test(all[index - (index % 2)] ?? ''))
        t.strictSame(named, ['X-Forwarded-Prefix', prefix])
      }
      await ask(t, gateway.url, 'GET /whole/x', claims)
      t.equal(backend.last().headers['x-forwarded-prefix'], trustedProxies.length > 0 ? '/evil' : undefined)
    }
  },
)

t.test('what trusted proxies stripped is put back too', async (t) => {
  const backend = await startRedirecting(t)
  const gateway = await startGateway(t, {
    backend: backend.url,
    config: { routes, trustedProxies: ['127.0.0.1'] },
  })
  for (const [prefix, expected] of [
    ['/outer', '/outer/orders/x'],
    ['//evil.example', '/orders/x'],
    ['https://evil.example', '/orders/x'],
  ] as const) {
    const { headers } = await ask(t, gateway.url, 'GET /orders?to=/x', [`X-Forwarded-Prefix: ${prefix}`])
    t.equal(headers.location, expected)
  }
})

t.test('an upgrade has the stripped prefix too', async (t) => {
  const backend = await startWebSocketBackend(t)
  const strip = routes.map((each) => ({ ...each, websocket: true }))
  const gateway = await startGateway(t, { backend: backend.url, config: { routes: strip } })
  const client = await connectRaw(t, gateway.url)
  const lines = [...upgradeLines, 'X-Forwarded-Prefix: /evil']
  client.send(`GET /orders/ws HTTP/1.1\r\nHost: x\r\n${lines.join('\r\n')}\r\n\r\n`)
  await client.readUntil('\r\n\r\n')
  // An app accepts a WebSocket before its backend has.
  await until('the backend has it', () => backend.upgrades.length === 1)
  t.equal(backend.upgrades[0]?.headers['x-forwarded-prefix'], '/orders')
})

t.test(
  'an upgrade on a route without WebSockets is an ordinary request, and logged once',
  noRequestLog,
  async (t) => {
    const backend = await startWebSocketBackend(t)
    const gateway = await startGateway(t, { backend: backend.url, config: { routes } })
    for (const path of ['/orders', '/orders/again', '/whole']) {
      const { status } = await ask(t, gateway.url, `GET ${path}`, upgradeLines)
      t.equal(status, 200)
    }
    await ask(t, gateway.url, 'GET /whole', ['Connection: Upgrade', 'Upgrade: h2c'])
    t.equal(backend.upgrades.length, 0)
    await until(
      'the last request is logged',
      () => gateway.logLines.filter((line) => /"request"/.test(line)).length === 4,
    )
    const logged = gateway.logLines
      .filter((line) => /WebSocket upgrade/.test(line))
      .map((line) => JSON.parse(line))
    t.strictSame(
      logged.map(({ level, route }) => [level, route]),
      [
        [logged[0]?.level, 'orders'],
        [logged[0]?.level, 'whole'],
      ],
    )
  },
)

t.test('a prefix that is replaced is put back in every field that names a path of the backend', async (t) => {
  const fields = (path: string, root: string) => ({
    Location: path,
    'Content-Location': `${path}?a`,
    Refresh: `5; url=${path}`,
    Link: `<${path}>; rel=next, <https://cdn.example.com/x>; rel=preload`,
    'Set-Cookie': [`a=b; Path=${path}; HttpOnly`, `c=d; Path=${root}`],
  })
  const { backend, gateway } = await startBoth(t, {
    config: { routes },
    answer: (request, response) => {
      const { pathname } = new URL(request.url ?? '', 'http://x')
      response.writeHead(302, fields(pathname, pathname.startsWith('/socket') ? '/socket' : '/')).end()
    },
  })
  for (const [path, forwarded, root] of [
    ['/orders/a/b', '/a/b', '/orders'],
    ['/realtime/v1/a', '/socket/a', '/realtime/v1'],
    ['/realtime/v1', '/socket', '/realtime/v1'],
    ['/whole/x', '/whole/x', '/'],
  ] as const) {
    const response = await fetch(gateway.url + path, { redirect: 'manual' })
    t.equal(backend.last().url, forwarded)
    const { 'Set-Cookie': cookies, ...others } = fields(path, root)
    for (const [name, value] of Object.entries(others)) t.equal(response.headers.get(name), value, name)
    t.strictSame(response.headers.getSetCookie(), cookies)
    const prefix = backend.last().headers['x-forwarded-prefix']
    t.equal(prefix, path.startsWith('/whole') ? undefined : root)
  }
})

t.test('the address of the target is in no field, whether a prefix is replaced or not', async (t) => {
  const { gateway } = await startBoth(t, {
    config: { routes },
    answer: (request, response) => {
      const own = `http://127.0.0.1:${request.socket.localPort}`
      response.writeHead(200, { Refresh: `0;url=${own}/x`, Link: `<${own}/x>; rel=next` }).end()
    },
  })
  for (const [path, expected] of [
    ['/orders/a', '/orders/x'],
    ['/whole', '/x'],
  ] as const) {
    const { headers } = await ask(t, gateway.url, `GET ${path}`)
    t.equal(headers.refresh, `0;url=http://gateway.test${expected}`)
    t.equal(headers.link, `<http://gateway.test${expected}>; rel=next`)
  }
})

t.test('an upgrade gets what stands in place of the prefix', async (t) => {
  const backend = await startWebSocketBackend(t)
  const gateway = await startGateway(t, { backend: backend.url, config: { routes } })
  const client = await connectRaw(t, gateway.url)
  client.send(`GET /realtime/v1/ws?x HTTP/1.1\r\nHost: x\r\n${upgradeLines.join('\r\n')}\r\n\r\n`)
  await client.readUntil('\r\n\r\n')
  await until('the backend has it', () => backend.upgrades.length === 1)
  t.match(backend.upgrades[0], { url: '/socket/ws?x', headers: { 'x-forwarded-prefix': '/realtime/v1' } })
})

t.test('the general path and the fast lane strip a prefix alike', async (t) => {
  const backend = await startRedirecting(t)
  const claims = ['X-Forwarded-Prefix: /outer', 'X-Forwarded-Host: public.example']
  for (const trustedProxies of [[], ['127.0.0.1']]) {
    const gateway = await startGateway(t, { backend: backend.url, config: { routes, trustedProxies } })
    for (const sent of [[], ['X-Forwarded-Host: public.example'], claims])
      for (const target of [
        '/orders',
        '/orders?to=/x',
        '/orders/a/b?to=http://HOST/x',
        '/realtime/v1/x?to=/socket/y',
      ]) {
        const ordinary = await ask(t, gateway.url, `GET ${target}`, sent)
        const { url, rawHeaders } = backend.last()
        // With this field none is ordinary.
        const general = await ask(t, gateway.url, `GET ${target}`, [...sent, 'Connection: x-none'])
        t.equal(backend.last().url, url)
        t.strictSame(
          withoutRequestId(backend.last().rawHeaders),
          withoutRequestId(rawHeaders),
          `${target}, ${sent}`,
        )
        t.ok(rawHeaders.includes('X-Forwarded-Prefix'))
        t.equal(ordinary.headers.location, general.headers.location)
      }
  }
})
