import t, { type Test } from 'tap'
import { startBackend } from '../setup/backend.ts'
import { startGateway } from '../setup/gateway.ts'
import type { RawResponse } from '../setup/raw-client.ts'
import { accessTokenPath, ask, askJson, jwksPath, refreshTokenPath } from './support/ask.ts'
import { assertProblem } from './support/problem.ts'
import { reloadWith } from './support/reload.ts'

const page = 'https://app.example.com'
const origin = `Origin: ${page}`
const preflightOf = (method: string, headers?: string) => [
  `Access-Control-Request-Method: ${method}`,
  ...(headers === undefined ? [] : [`Access-Control-Request-Headers: ${headers}`]),
]

/** Lines of one name, so that two are seen. */
function linesOf({ head }: RawResponse, start: string): readonly string[] {
  return head.split('\r\n').filter((line) => line.toLowerCase().startsWith(start.toLowerCase()))
}

function assertReadable(t: Test, response: RawResponse, what: string): void {
  t.strictSame(linesOf(response, 'access-control-allow-'), [
    `Access-Control-Allow-Origin: ${page}`,
    'Access-Control-Allow-Credentials: true',
  ])
  const [names, ...others] = linesOf(response, 'access-control-expose-headers')
  for (const name of ['X-Request-Id', 'Retry-After', 'WWW-Authenticate', 'RateLimit-Limit']) {
    t.ok(names?.includes(name), `${what}: ${name} may be read`)
  }
  t.strictSame(others, [])
  t.match(response.headers.vary, /(^|, |\n)Origin/, `${what}: caches can see it`)
}

const routes = [
  { name: 'orders', path: '/orders', upstream: 'backend', auth: 'any', methods: ['GET', 'POST'] },
  { name: 'orders-delete', path: '/orders', upstream: 'backend', auth: 'any', methods: ['DELETE'] },
  { name: 'any', path: '/any', upstream: 'backend', auth: 'any' },
  { name: 'public', path: '/public', upstream: 'backend', auth: 'none' },
  { name: 'dead', path: '/dead', upstream: 'dead', auth: 'none' },
]

async function start(t: Test, origins: readonly string[]) {
  const backend = await startBackend(t, (_request, response) => {
    response.writeHead(200, {
      'Access-Control-Allow-Origin': '*',
      'Access-Control-Allow-Headers': 'X-Backend',
      'Access-Control-Expose-Headers': 'ETag',
      ETag: '"1"',
    })
    response.end('hello')
  })
  const upstreams = {
    backend: { targets: [{ url: backend.url }] },
    dead: { targets: [{ url: 'http://127.0.0.1:1' }] },
  }
  const gateway = await startGateway(t, { config: { cors: { origins }, routes, upstreams } })
  return { backend, gateway, account: await gateway.createAccount() }
}

t.test('without configured origins the gateway handles no CORS', async (t) => {
  const { backend, gateway } = await start(t, [])
  const preflight = await ask(t, gateway.url, 'OPTIONS /public', [origin, ...preflightOf('PUT')])
  t.equal(preflight.body, 'hello', 'a preflight is for the upstream')
  t.equal(backend.last().headers['access-control-request-method'], 'PUT')
  t.strictSame(linesOf(preflight, 'access-control-').length, 3, 'and so is the answer to it')
  t.equal(preflight.headers.vary, undefined)
  const refused = await ask(t, gateway.url, 'GET /orders', [origin])
  assertProblem(t, refused, { status: 401, code: 'credentials-missing' })
  for (const response of [refused, await ask(t, gateway.url, `GET ${jwksPath}`, [origin])]) {
    t.strictSame(linesOf(response, 'access-control-'), [])
    t.equal(response.headers.vary, undefined)
  }
  assertProblem(
    t,
    await ask(t, gateway.url, `OPTIONS ${accessTokenPath}`, [origin, ...preflightOf('POST')]),
    {
      status: 405,
      code: 'method-not-allowed',
    },
  )
})

t.test('a preflight is answered before authentication, and reaches no backend', async (t) => {
  const { backend, gateway } = await start(t, [page])
  const cases: readonly (readonly [path: string, asked: string, methods: string])[] = [
    ['/orders/7', 'POST', 'GET, POST, HEAD'],
    ['/orders/7', 'DELETE', 'DELETE'],
    ['/orders', 'PUT', 'DELETE, GET, HEAD, POST'],
    ['/any', 'PROPFIND', 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS, PROPFIND'],
    [accessTokenPath, 'POST', 'POST'],
    ['/api/v1/admin/accounts/1', 'PATCH', 'GET, HEAD, PATCH, DELETE'],
  ]
  for (const [path, asked, methods] of cases) {
    const headers = 'authorization,secretkey, content-type,x-anything'
    const response = await ask(t, gateway.url, `OPTIONS ${path}`, [origin, ...preflightOf(asked, headers)])
    t.equal(response.status, 204, path)
    t.strictSame(linesOf(response, 'access-control-'), [
      `Access-Control-Allow-Origin: ${page}`,
      'Access-Control-Allow-Credentials: true',
      `Access-Control-Allow-Methods: ${methods}`,
      `Access-Control-Allow-Headers: ${headers}`,
      'Access-Control-Max-Age: 600',
    ])
    t.equal(response.headers.vary, 'Origin')
    t.equal(response.headers['content-length'], undefined)
  }
  t.equal(backend.seen.length, 0)
  const lost = await ask(t, gateway.url, 'OPTIONS /nowhere', [origin, ...preflightOf('GET')])
  assertProblem(t, lost, { status: 404, code: 'route-not-found' })
  assertReadable(t, lost, 'a 404')
})

t.test('OPTIONS that is not a preflight of an allowed origin is an ordinary request', async (t) => {
  const { backend, gateway } = await start(t, [page])
  const other = [
    [origin],
    preflightOf('GET'),
    ['Origin: https://evil.example', ...preflightOf('GET')],
    ['Origin: null', ...preflightOf('GET')],
    [`Origin: ${page}.evil.example`, ...preflightOf('GET')],
    [`Origin: ${page}:8443`, ...preflightOf('GET')],
    ['Origin: http://app.example.com', ...preflightOf('GET')],
    [origin, 'Origin: https://evil.example', ...preflightOf('GET')],
    [origin, ...preflightOf('GET'), ...preflightOf('PUT')],
    [origin, ...preflightOf('GET, PUT')],
    [origin, ...preflightOf('')],
  ]
  for (const headers of other) {
    const response = await ask(t, gateway.url, 'OPTIONS /any', headers)
    assertProblem(t, response, { status: 401, code: 'credentials-missing' })
  }
  const foreign = await ask(t, gateway.url, 'OPTIONS /public', [
    'Origin: https://evil.example',
    ...preflightOf('GET'),
  ])
  t.equal(foreign.body, 'hello')
  t.strictSame(
    linesOf(foreign, 'access-control-'),
    [],
    'the upstream does not open what the gateway does not',
  )
  t.equal(foreign.headers.vary, 'Origin')
  t.equal(backend.seen.length, 1)
  const odd = await ask(t, gateway.url, 'OPTIONS /any', [origin, ...preflightOf('GET', 'a;b')])
  t.equal(odd.status, 204)
  t.strictSame(linesOf(odd, 'access-control-allow-headers'), [], 'names that are none are not allowed')
})

t.test('pages of allowed origins may read every answer, other pages none', async (t) => {
  const { gateway, account } = await start(t, ['https://first.example', page])
  const key = `SecretKey: ${account.secretKey}`
  const answers: readonly (readonly [line: string, headers: readonly string[], status: number])[] = [
    ['GET /any', [key], 200],
    ['GET /any', [], 401],
    ['GET /any', ['SecretKey: gsk_wrong'], 401],
    ['PUT /orders', [], 405],
    ['GET /any/%2e%2e/x', [], 400],
    ['GET /dead', [], 502],
    [`GET ${jwksPath}`, [], 200],
    [`GET ${accessTokenPath}`, [], 405],
    ['GET /api/v1/admin/accounts', [], 401],
  ]
  for (const [line, headers, status] of answers) {
    const response = await ask(t, gateway.url, line, [origin, ...headers])
    t.equal(response.status, status, line)
    assertReadable(t, response, line)
    for (const others of [['Origin: https://evil.example'], ['Origin: null'], []]) {
      const unread = await ask(t, gateway.url, line, [...others, ...headers])
      t.equal(unread.status, status)
      t.strictSame(linesOf(unread, 'access-control-'), [], `${line} ${others}`)
      t.match(unread.headers.vary, /^Origin(?:, |$)/, 'so that no cache gives the one for the other')
    }
  }
  const forwarded = await ask(t, gateway.url, 'GET /any', [origin, key])
  t.match(forwarded.headers['access-control-expose-headers'], /, ETag$/, 'what the backend exposes stays so')
})

t.test('answers to requests with bodies carry CORS headers, broken ones included', async (t) => {
  const { gateway, account } = await start(t, [page])
  const pair = { SecretKey: account.secretKey, APIKey: account.apiKey }
  const issued = await askJson(t, gateway.url, accessTokenPath, pair, [origin])
  t.equal(issued.status, 200)
  assertReadable(t, issued, 'tokens')
  const wrong = await askJson(t, gateway.url, accessTokenPath, { ...pair, APIKey: 'gak_x' }, [origin])
  assertProblem(t, wrong, { status: 401, code: 'credentials-invalid' })
  assertReadable(t, wrong, 'a wrong pair')
  const invalid = await ask(
    t,
    gateway.url,
    `POST ${accessTokenPath}`,
    [origin, 'Content-Type: application/json'],
    '{',
  )
  assertProblem(t, invalid, { status: 400, code: 'request-invalid' })
  assertReadable(t, invalid, 'no JSON')
})

t.test('an allowed origin is still cross-site for the refresh cookie', async (t) => {
  const { gateway, account } = await start(t, [page])
  const { RefreshToken } = await gateway.tokens(account)
  const cookie = `Cookie: refreshToken=${RefreshToken}`
  for (const headers of [[origin], [origin, 'Sec-Fetch-Site: cross-site']]) {
    const refused = await ask(t, gateway.url, `POST ${refreshTokenPath}`, [...headers, cookie])
    assertProblem(t, refused, { status: 403, code: 'cross-site-refresh' })
    assertReadable(t, refused, 'and it can read why')
  }
  const sameSite = await ask(t, gateway.url, `POST ${refreshTokenPath}`, [
    origin,
    'Sec-Fetch-Site: same-site',
    cookie,
  ])
  t.equal(sameSite.status, 200, 'another origin of the same site is not foreign')
  const { refreshToken: token } = sameSite.json()
  const fromBody = await askJson(t, gateway.url, refreshTokenPath, { token }, [
    origin,
    'Sec-Fetch-Site: cross-site',
  ])
  t.equal(fromBody.status, 200)
  assertReadable(t, fromBody, 'the body form')
})

t.test(
  'no page of another origin reads the portal, though a same-site cookie may be sent along',
  async (t) => {
    const { gateway } = await start(t, [page])
    for (const line of [
      'GET /portal',
      'GET /portal/sign-in',
      'POST /portal/sign-in',
      'GET /portal/nothing',
    ]) {
      const response = await ask(t, gateway.url, line, [origin])
      t.strictSame(linesOf(response, 'access-control-'), [], line)
    }
    const preflight = await ask(t, gateway.url, 'OPTIONS /portal/sign-in', [origin, ...preflightOf('POST')])
    t.not(preflight.status, 204)
    t.strictSame(linesOf(preflight, 'access-control-'), [])
  },
)

t.test('a reload changes the allowed origins', async (t) => {
  const { gateway } = await start(t, [])
  const get = async () =>
    linesOf(await ask(t, gateway.url, `GET ${jwksPath}`, [origin]), 'access-control-allow-origin')
  t.strictSame(await get(), [])
  t.equal((await reloadWith(gateway, { cors: { origins: [page] } })).code, 200)
  t.strictSame(await get(), [`Access-Control-Allow-Origin: ${page}`])
  t.equal((await reloadWith(gateway, { cors: { origins: [] } })).code, 200)
  t.strictSame(await get(), [])
})

t.test('the general path and the fast lane answer pages alike', async (t) => {
  const { backend, gateway, account } = await start(t, [page])
  const other = 'Origin: https://other.example'
  for (const origins of [[], [origin], [other], [origin, origin], [origin, other], ['Origin:']]) {
    const sent = [...origins, `SecretKey: ${account.secretKey}`]
    const answers: RawResponse[] = []
    // The credential of the second was decided about before; with the third's field none is ordinary.
    for (const more of [[], [], ['Connection: x-none']])
      answers.push(await ask(t, gateway.url, 'GET /any', [...sent, ...more]))
    const [first, ...others] = answers.map((answer) => ({
      status: answer.status,
      cors: linesOf(answer, 'access-control-'),
      vary: linesOf(answer, 'vary'),
    }))
    for (const each of others) t.strictSame(each, first, origins.join(', '))
    t.equal(first?.status, 200)
    t.equal(first?.cors.length, origins.length === 1 && origins[0] === origin ? 3 : 0)
    t.match(first?.vary, [/Origin/])
    t.strictSame(
      backend.last().rawHeaders.filter((_, index, all) => all[index - 1] === 'Origin'),
      origins.map((line) => line.slice('Origin: '.length)),
      'the backend sees what was sent',
    )
  }
})
