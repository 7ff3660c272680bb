import t from 'tap'
import { ask as askHttp2, connectHttp2 } from '../http/h2/ask.ts'
import { startRawBackend } from '../setup/backend.ts'
import { startBoth } from '../setup/both.ts'
import { notInApp, startGateway } from '../setup/gateway.ts'
import { connectRaw } from '../setup/raw-client.ts'
import { ask } from './support/ask.ts'
import { assertProblem } from './support/problem.ts'

const responseHeaders = {
  set: { 'Strict-Transport-Security': 'max-age=31536000', 'Cache-Control': 'max-age=60', Location: '/plain' },
  remove: ['Server', 'x-powered-by'],
}
const route = { upstream: 'backend', auth: 'none' }
const routes = [
  { ...route, name: 'set', path: '/set', stripPrefix: true, responseHeaders },
  { ...route, name: 'any', path: '/any', auth: 'any', responseHeaders },
  { ...route, name: 'plain', path: '/plain' },
]
const fields = {
  Server: 'old/1.0',
  'X-Powered-By': 'PHP',
  'cache-control': 'no-store',
  'strict-transport-security': 'max-age=1',
  Location: '/x',
  'X-Other': 'kept',
}
const http1Only = { skip: notInApp('an app speaks HTTP/1.1') }

t.test('fields of a route stand in place of those of the backend, with each answer of it', async (t) => {
  const { gateway } = await startBoth(t, {
    config: { routes },
    answer: (request, response) => response.writeHead(Number(request.url?.slice(1, 4)) || 200, fields).end(),
  })
  const { secretKey } = await gateway.createAccount()
  for (const [line, status] of [
    ['GET /set/200', 200],
    ['HEAD /set/200', 200],
    ['POST /set/404', 404],
    ['GET /set/304', 304],
    ['GET /set/503', 503],
    ['GET /any/200', 200],
  ] as const) {
    const response = await ask(t, gateway.url, line, line.includes('any') ? [`SecretKey: ${secretKey}`] : [])
    t.equal(response.status, status, line)
    t.match(response.headers, {
      'strict-transport-security': 'max-age=31536000',
      'cache-control': 'max-age=60',
      // In the words of the operator: no prefix is put before it.
      location: '/plain',
      'x-other': 'kept',
      server: undefined,
      'x-powered-by': undefined,
    })
  }
  const { headers } = await ask(t, gateway.url, 'GET /plain')
  t.match(headers, {
    server: 'old/1.0',
    'cache-control': 'no-store',
    'strict-transport-security': 'max-age=1',
  })
})

t.test('the answers of the gateway itself do not have the fields of the route', async (t) => {
  const { gateway, backend } = await startBoth(t, { config: { routes } })
  const response = await ask(t, gateway.url, 'GET /any')
  assertProblem(t, response, { status: 401, code: 'credentials-missing' })
  t.equal(response.headers['strict-transport-security'], undefined)
  t.equal(backend.seen.length, 0)
})

t.test('caches are told what the fields of the route say', async (t) => {
  const set = { set: { Vary: 'Accept' } }
  const { gateway } = await startBoth(t, {
    config: {
      routes: [
        { ...route, name: 'vary', path: '/vary', auth: 'any', responseHeaders: set },
        {
          ...route,
          name: 'removed',
          path: '/removed',
          auth: 'any',
          responseHeaders: { remove: ['Cache-Control', 'Vary'] },
        },
      ],
    },
    answer: (_, response) => response.writeHead(200, { Vary: 'Cookie', 'Cache-Control': 'public' }).end(),
  })
  const { secretKey } = await gateway.createAccount()
  const key = [`SecretKey: ${secretKey}`]
  const { headers } = await ask(t, gateway.url, 'GET /vary', key)
  t.match(headers, { vary: 'Accept, SecretKey, Authorization', 'cache-control': 'public' })
  const removed = await ask(t, gateway.url, 'GET /removed', key)
  t.match(removed.headers, { vary: 'SecretKey, Authorization', 'cache-control': 'private' })
})

t.test('the same over HTTP/2, to clients and to the backend', http1Only, async (t) => {
  const { gateway } = await startBoth(t, {
    config: { routes },
    answer: (_, response) => response.writeHead(200, fields).end(),
  })
  const client = await connectHttp2(t, gateway.url)
  const { headers } = await askHttp2(client, '/set/x')
  t.match(headers, { 'strict-transport-security': 'max-age=31536000', 'x-other': 'kept', server: undefined })
})

t.test('interim responses and trailers lose what is removed, and get nothing', http1Only, async (t) => {
  const answer =
    'HTTP/1.1 103 Early Hints\r\nServer: x\r\nLink: </a>\r\n\r\n' +
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Powered-By\r\n\r\n0\r\nX-Powered-By: x\r\nX-Sum: 1\r\n\r\n'
  const url = await startRawBackend(t, (socket) => socket.on('data', () => void socket.end(answer)))
  const gateway = await startGateway(t, { backend: url, config: { routes } })
  const client = await connectRaw(t, gateway.url)
  client.send('GET /set HTTP/1.1\r\nHost: x\r\nTE: trailers\r\nConnection: TE\r\n\r\n')
  const [interim = '', final = ''] = [
    await client.readUntil('\r\n\r\n'),
    await client.readUntil('X-Sum: 1\r\n\r\n'),
  ]
  t.match(interim, /^HTTP\/1\.1 103 .*\r\nLink: <\/set\/a>\r\n\r\n$/)
  t.match(final, /Strict-Transport-Security: max-age=31536000\r\n/)
  t.notMatch(final, /powered-by: x/i)
})

t.test('with CORS of the gateway the fields of the route are set too', http1Only, async (t) => {
  const { gateway } = await startBoth(t, {
    config: { routes, cors: { origins: ['https://app.example.com'] } },
    answer: (_, response) => response.writeHead(200, fields).end(),
  })
  const { headers } = await ask(t, gateway.url, 'GET /set', ['Origin: https://app.example.com'])
  t.match(headers, {
    'access-control-allow-origin': 'https://app.example.com',
    vary: 'Origin',
    'strict-transport-security': 'max-age=31536000',
    server: undefined,
  })
})
