import t from 'tap'
import { startBoth } from '../setup/both.ts'
import { accessTokenPath, ask, refreshTokenPath } from './support/ask.ts'

// CORS is the program's: an app has its own.

const origin = 'Origin: https://any.example'
const routes = [
  { name: 'any', path: '/any', upstream: 'backend', auth: 'any', browser: { cookie: true } },
  { name: 'public', path: '/public', upstream: 'backend', auth: 'none' },
]
const config = { cors: { origins: ['*'] }, accessCookie: { enabled: true }, routes }
const allowed = { 'access-control-allow-origin': '*', 'access-control-allow-credentials': undefined }

t.test('pages of every origin may read answers, never with credentials', async (t) => {
  const { gateway } = await startBoth(t, {
    config,
    answer: (_, response) =>
      response
        .writeHead(200, {
          'Access-Control-Allow-Origin': 'https://app.example.com',
          'Access-Control-Allow-Credentials': 'true',
          'Access-Control-Expose-Headers': 'X-Total',
        })
        .end(),
  })
  const { secretKey } = await gateway.createAccount()
  for (const [headers, status] of [
    [[origin, `SecretKey: ${secretKey}`], 200],
    [[origin], 401],
    [[`SecretKey: ${secretKey}`], 200],
    [['Origin: null', `SecretKey: ${secretKey}`], 200],
    [['Origin: *', `SecretKey: ${secretKey}`], 200],
  ] as const) {
    const response = await ask(t, gateway.url, 'GET /any', headers)
    t.equal(response.status, status)
    t.match(response.headers, allowed)
    t.notMatch(response.headers.vary, /(?:^|, )Origin$/, 'it is the same for all')
  }
  const { headers } = await ask(t, gateway.url, 'GET /public', [origin])
  t.match(headers, { ...allowed, 'access-control-expose-headers': /X-Total/, vary: undefined })
})

t.test('a preflight of any origin is answered, and allows no credentials', async (t) => {
  const { gateway, backend } = await startBoth(t, { config })
  const asks = ['Access-Control-Request-Method: PUT', 'Access-Control-Request-Headers: SecretKey, X-A']
  for (const path of ['/any', accessTokenPath]) {
    const { status, headers } = await ask(t, gateway.url, `OPTIONS ${path}`, [origin, ...asks])
    t.equal(status, 204)
    t.match(headers, { ...allowed, 'access-control-allow-headers': 'SecretKey, X-A', vary: undefined })
  }
  // Without an Origin it is an ordinary request.
  t.equal((await ask(t, gateway.url, 'OPTIONS /any', asks)).status, 401)
  t.equal((await ask(t, gateway.url, 'OPTIONS /public', asks)).status, 200)
  t.equal(backend.seen.length, 1)
})

t.test('no origin is trusted by it: cookies count for pages of the gateway only', async (t) => {
  const { gateway, backend } = await startBoth(t, { config })
  const account = await gateway.createAccount()
  const { JwtToken, RefreshToken } = await gateway.tokens(account)
  const cookie = `Cookie: accessToken=${JwtToken}; refreshToken=${RefreshToken}`
  for (const from of [origin, 'Origin: *'])
    for (const line of ['GET /any', 'POST /any'])
      t.equal((await ask(t, gateway.url, line, [from, 'Sec-Fetch-Site: cross-site', cookie])).status, 401)
  const refresh = await ask(t, gateway.url, `POST ${refreshTokenPath}`, [
    origin,
    'Sec-Fetch-Site: cross-site',
    cookie,
  ])
  t.equal(refresh.status, 403)
  t.equal(backend.seen.length, 0)
})

t.test('pages of the portal stay closed to other origins', async (t) => {
  const { gateway } = await startBoth(t, { config })
  const { headers } = await ask(t, gateway.url, 'GET /portal', [origin])
  t.equal(headers['access-control-allow-origin'], undefined)
})
