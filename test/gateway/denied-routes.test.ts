import t from 'tap'
import { ask as askHttp2, connectHttp2 } from '../http/h2/ask.ts'
import { startBoth } from '../setup/both.ts'
import { askDecision, startDecideGateway } from './decide/support.ts'
import { ask } from './support/ask.ts'
import { readMetrics } from './support/metrics.ts'
import { assertProblem } from './support/problem.ts'
import { upgradeLines } from './support/web-socket.ts'

const refused = { status: 403, code: 'route-denied' }
const routes = [
  { name: 'rest', path: '/', auth: 'deny' },
  { name: 'open', path: '/open', upstream: 'backend', auth: 'none' },
  { name: 'internal', path: '/open/internal', upstream: 'backend', auth: 'deny', websocket: true },
  { name: 'closed', path: '/posts', methods: ['DELETE'], auth: 'deny' },
  { name: 'posts', path: '/posts', upstream: 'backend', auth: 'any' },
]

t.test('a route with auth: deny refuses everybody, before a credential is looked at', async (t) => {
  const { backend, gateway } = await startBoth(t, { config: { routes } })
  const { secretKey } = await gateway.createAccount({ role: 'Admin' })
  for (const line of [
    'GET /',
    'GET /open/internal',
    'POST /open/internal/x',
    'OPTIONS /x',
    'DELETE /posts/1',
  ])
    for (const headers of [
      [],
      [`SecretKey: ${secretKey}`],
      ['SecretKey: wrong'],
      [`SecretKey: a`, 'SecretKey: b'],
    ])
      assertProblem(t, await ask(t, gateway.url, line, headers), refused)
  assertProblem(t, await ask(t, gateway.url, 'GET /open/internal', upgradeLines), refused)
  assertProblem(t, await ask(t, gateway.url, 'POST /open/internal', [], 'a body'), refused)
  t.equal(backend.seen.length, 0)
  t.equal((await ask(t, gateway.url, 'GET /open/x')).status, 200)
  t.equal((await ask(t, gateway.url, 'GET /posts/1', [`SecretKey: ${secretKey}`])).status, 200)
})

t.test('no spelling of a path gets around it', async (t) => {
  const { backend, gateway } = await startBoth(t, { config: { routes } })
  for (const path of [
    '/open/Internal',
    '/open/internal;x',
    '/open/x/../internal',
    '/open%2Finternal',
    '/open//internal',
  ])
    assertProblem(t, await ask(t, gateway.url, `GET ${path}`), { status: 400, code: 'path-ambiguous' })
  for (const path of ['/open/%69nternal', '/open/internal/'])
    assertProblem(t, await ask(t, gateway.url, `GET ${path}`), refused)
  t.equal(backend.seen.length, 0)
})

t.test('it is a page for people, the same over HTTP/2, counted and logged by its route', async (t) => {
  const { gateway } = await startBoth(t, { config: { routes } })
  const page = await ask(t, gateway.url, 'GET /x', ['Accept: text/html'])
  t.match(page, { status: 403, headers: { 'content-type': /text\/html/ }, body: /This path is closed/ })
  const client = await connectHttp2(t, gateway.url)
  t.match(await askHttp2(client, '/open/internal'), { status: 403, body: /route-denied/ })
  const { value } = await readMetrics(gateway.opsUrl)
  t.equal(value('gatehouse_http_requests_total', { route: 'internal', code: '403' }), 1)
})

t.test('nothing can be moved to it, or copied from it', async (t) => {
  const { backend, gateway } = await startBoth(t, { config: { routes } })
  for (const target of ['/open/internal/x', '/x'])
    for (const name of ['Destination', 'X-Amz-Copy-Source'])
      assertProblem(t, await ask(t, gateway.url, 'PUT /open/x', [`${name}: ${target}`], ''), {
        status: 403,
        code: 'destination-forbidden',
      })
  t.equal(backend.seen.length, 0)
})

t.test('the listener for other proxies refuses it too', async (t) => {
  const gateway = await startDecideGateway(t, {
    backend: 'http://127.0.0.1:9',
    config: { decide: { port: 0 }, routes },
  })
  assertProblem(t, await askDecision(t, gateway, { uri: '/open/internal' }), refused)
  t.equal((await askDecision(t, gateway, { uri: '/open/x' })).status, 200)
})
