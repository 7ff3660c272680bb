import { connect } from 'node:http2'
import t, { type Test } from 'tap'
import { startBackend } from '../setup/backend.ts'
import { startGateway, type TestGatewayOptions } from '../setup/gateway.ts'
import { ask } from './support/ask.ts'
import { createCookieJar } from './support/cookie-jar.ts'
import { reloadWith, taken } from './support/reload.ts'
import { startMortalBackend } from './support/restartable-backend.ts'
import { dialWebSocket, startWebSocketBackend } from './support/web-socket.ts'

/** Backends that say their name. */
async function startNamed(t: Test, names: readonly string[]) {
  return Promise.all(
    names.map((name) =>
      startBackend(t, (request, response) => response.end(`${name} ${request.headers.cookie ?? ''}`.trim())),
    ),
  )
}

const stickyTo = (urls: readonly string[]) => ({
  backend: { targets: urls.map((url) => ({ url })), balancing: 'sticky' },
})

type Options = TestGatewayOptions['config']

async function startSticky(t: Test, urls: readonly string[], config: Options = {}) {
  return startGateway(t, { config: { upstreams: stickyTo(urls), ...config } })
}

const cookiePattern = /^gatehouse-target-[0-9a-f]{8}=[\w-]{22}; Path=\/public; HttpOnly; SameSite=Lax$/

t.test('a client stays with the target of its first request, and only that sets the cookie', async (t) => {
  const backends = await startNamed(t, ['A', 'B', 'C'])
  const gateway = await startSticky(
    t,
    backends.map(({ url }) => url),
  )
  const seen = new Set<string>()
  for (let client = 0; client < 6; client++) {
    const first = await ask(t, gateway.url, 'GET /public/x')
    t.match(first.headers['set-cookie'], cookiePattern)
    const [cookie = ''] = first.headers['set-cookie']?.split(';') ?? []
    for (let count = 0; count < 4; count++) {
      const next = await ask(t, gateway.url, 'GET /public/y', [`Cookie: a=b; ${cookie}; c=d`])
      t.equal(next.body, `${first.body} a=b; c=d`, 'and the target does not see the cookie')
      t.equal(next.headers['set-cookie'], undefined)
    }
    seen.add(first.body)
  }
  t.equal(seen.size, 3, 'new clients take turns')
})

t.test('the cookie lives through restarts, reloads and other orders of the targets', async (t) => {
  const backends = await startNamed(t, ['A', 'B', 'C'])
  const urls = backends.map(({ url }) => url)
  const sealingKey = { file: 'sealing.key' }
  const shared = { keys: { sealingKey } }
  const gateway = await startSticky(t, urls, shared)
  const jar = createCookieJar(t, gateway.url)
  const { body } = await jar.ask('GET /public/x')
  t.match(await reloadWith(gateway, { upstreams: stickyTo(urls.toReversed()) }), taken)
  t.equal((await jar.ask('GET /public/x')).body, body)
  t.match(
    await reloadWith(gateway, { upstreams: { backend: { targets: urls.map((url) => ({ url })) } } }),
    taken,
  )
  const passed = await jar.ask('GET /public/x')
  t.match(passed.body, /gatehouse-target/, 'without sticky upstreams it is any cookie')
  t.equal(passed.headers['set-cookie'], undefined)
})

t.test('a target that is dead or gone is replaced, and the cookie with it', async (t) => {
  const [mortal, other] = await Promise.all([startMortalBackend(t), startBackend(t)])
  const gateway = await startSticky(t, [mortal.url, other.url])
  const jar = createCookieJar(t, gateway.url)
  for (let count = 0; other.seen.length > 0 || count === 0; count++) {
    other.seen.length = 0
    jar.cookies.clear()
    await jar.ask('GET /public/x')
  }
  const before = [...jar.cookies.values()]
  await mortal.die()
  const moved = await jar.ask('GET /public/y')
  t.equal(moved.status, 200)
  t.match(moved.headers['set-cookie'], cookiePattern)
  t.not([...jar.cookies.values()][0], before[0])
  t.equal((await jar.ask('GET /public/z')).headers['set-cookie'], undefined)
  t.strictSame(
    other.seen.map(({ url }) => url),
    ['/public/y', '/public/z'],
  )
  t.match(await reloadWith(gateway, { upstreams: stickyTo([mortal.url]) }), taken)
  t.equal((await jar.ask('GET /public/x')).status, 502)
})

t.test(
  'the cookie has the path of its route, as the client sees it, and is Secure where all are',
  async (t) => {
    const [backend] = await startNamed(t, ['A'])
    const route = { upstream: 'backend', auth: 'none' }
    const gateway = await startSticky(t, [backend?.url ?? '', 'http://127.0.0.1:1'], {
      publicUrl: 'https://gateway.test',
      cookie: { sameSite: 'None' },
      trustedProxies: ['127.0.0.1'],
      upstreams: stickyTo([backend?.url ?? '']),
      routes: [
        { ...route, name: 'root', path: '/' },
        { ...route, name: 'app', path: '/app', stripPrefix: true },
      ],
    })
    for (const [path, headers, expected] of [
      ['/x', [], '/'],
      ['/app/x', [], '/app'],
      ['/app/x', ['X-Forwarded-Prefix: /outer'], '/outer/app'],
      ['/x', ['X-Forwarded-Prefix: /outer'], '/outer'],
      ['/x', ['X-Forwarded-Prefix: /outer;evil'], '/'],
    ] as const) {
      const answer = await ask(t, gateway.url, `GET ${path}`, headers)
      t.match(answer.headers['set-cookie'], `; Path=${expected}; HttpOnly; Secure; SameSite=None`)
    }
  },
)

t.test('a backend cannot set the cookie, and two upstreams at one path have one each', async (t) => {
  const backend = await startBackend(t, (request, response) => {
    response
      .writeHead(200, { 'Set-Cookie': [`${request.headers['x-set'] ?? 'a'}=stolen; Path=/`, 'b=c'] })
      .end()
  })
  const both = stickyTo([backend.url])
  const route = { path: '/', auth: 'none' }
  const gateway = await startSticky(t, [], {
    upstreams: { read: both.backend, write: both.backend },
    routes: [
      { ...route, name: 'read', methods: ['GET'], upstream: 'read' },
      { ...route, name: 'write', methods: ['POST'], upstream: 'write' },
    ],
  })
  const jar = createCookieJar(t, gateway.url)
  await jar.ask('GET /x')
  await jar.ask('POST /x', [], 'x')
  const names = [...jar.cookies.keys()].filter((name) => name.startsWith('gatehouse-'))
  t.equal(names.length, 2)
  for (const name of names) {
    const { headers } = await jar.ask('GET /x', [`X-Set: ${name}`])
    t.equal(headers['set-cookie'], 'b=c')
  }
})

t.test('clients of HTTP/2 stay too, to backends of either protocol', async (t) => {
  const backends = await startNamed(t, ['A', 'B', 'C'])
  const gateway = await startSticky(
    t,
    backends.map(({ url }) => url),
  )
  const session = connect(gateway.url)
  t.teardown(() => session.destroy())
  const askHttp2 = async (cookies: readonly string[]) => {
    // Cookies may be sent in a field each (RFC 9113 8.2.3).
    const stream = session.request({ ':path': '/public/x', cookie: [...cookies] })
    const headers = new Promise<Record<string, unknown>>((resolve) => stream.once('response', resolve))
    let body = ''
    for await (const chunk of stream) body += String(chunk)
    return { set: (await headers)['set-cookie'] as readonly string[] | undefined, body }
  }
  const first = await askHttp2([])
  t.match(first.set?.[0], cookiePattern)
  const cookie = String(first.set?.[0]).split(';')[0] ?? ''
  for (let count = 0; count < 4; count++)
    t.strictSame(await askHttp2(['a=b', cookie]), { set: undefined, body: `${first.body} a=b` })
})

t.test('WebSockets stay with the target, and their 101 sets the cookie', async (t) => {
  const backends = await Promise.all([1, 2, 3].map(() => startWebSocketBackend(t)))
  const gateway = await startSticky(
    t,
    backends.map(({ url }) => url),
    { routes: [{ name: 'ws', path: '/public', upstream: 'backend', auth: 'none', websocket: true }] },
  )
  const open = async (headers: Record<string, string> = {}) => {
    const socket = dialWebSocket(t, `${gateway.url}/public`, { headers })
    return new Promise<string | undefined>((resolve, reject) => {
      socket.on('error', reject)
      // The cast is sound: ws reports the response of the handshake so.
      const events = socket as unknown as {
        on(event: 'upgrade', listener: (r: { headers: Record<string, string[]> }) => void): void
      }
      events.on('upgrade', ({ headers: { 'set-cookie': set } }) => resolve(set?.[0]))
    })
  }
  const set = await open()
  t.match(set, cookiePattern)
  for (let count = 0; count < 4; count++) t.equal(await open({ Cookie: set?.split(';')[0] ?? '' }), undefined)
  t.strictSame(backends.map(({ upgrades }) => upgrades.length).toSorted(), [0, 0, 5])
})
