import { METHODS } from 'node:http'
import t from 'tap'
import { startBoth } from '../setup/both.ts'
import { startGateway } from '../setup/gateway.ts'
import { connectRaw } from '../setup/raw-client.ts'
import { accessTokenPath, ask, askJson, jwksPath, refreshTokenPath, revokeTokenPath } from './support/ask.ts'
import { assertProblem } from './support/problem.ts'

const posts = [accessTokenPath, refreshTokenPath, revokeTokenPath]

t.test("the gateway's own paths", async (t) => {
  const { backend, gateway } = await startBoth(t, {
    config: {
      routes: [
        { name: 'all', path: '/', upstream: 'backend', auth: 'none', websocket: true, encodedSlash: 'pass' },
        { name: 'rival', path: accessTokenPath, upstream: 'backend', auth: 'none' },
      ],
    },
  })
  const account = await gateway.createAccount()

  t.test('another method on an own path is 405 with Allow, and is not proxied', async (t) => {
    // CONNECT names no path, and TRACE has a test of its own.
    const methods = METHODS.filter((method) => method !== 'CONNECT' && method !== 'TRACE')
    for (const path of posts) {
      for (const method of methods.filter((method) => method !== 'POST')) {
        const response = await ask(t, gateway.url, `${method} ${path}`)
        t.equal(response.status, 405, `${method} ${path}`)
        t.equal(response.headers.allow, 'POST', `Allow for ${method} ${path}`)
        if (method !== 'HEAD') assertProblem(t, response, { status: 405, code: 'method-not-allowed' })
      }
    }
    for (const method of methods.filter((method) => method !== 'GET' && method !== 'HEAD')) {
      const response = await ask(t, gateway.url, `${method} ${jwksPath}`)
      assertProblem(t, response, { status: 405, code: 'method-not-allowed' })
      t.strictSame(
        response.headers.allow?.split(', ').toSorted(),
        ['GET', 'HEAD'],
        `Allow for ${method} ${jwksPath}`,
      )
    }
    t.equal(backend.seen.length, 0)
  })

  t.test('TRACE on an own path is 405 with Allow', async (t) => {
    for (const [path, allow] of [
      [accessTokenPath, 'POST'],
      [jwksPath, 'GET, HEAD'],
    ] as const) {
      const response = await ask(t, gateway.url, `TRACE ${path}`)
      assertProblem(t, response, { status: 405, code: 'method-not-allowed' })
      t.equal(response.headers.allow, allow)
    }
  })

  t.test('a wrong method on an own path is refused before the body is read', async (t) => {
    const client = await connectRaw(t, gateway.url)
    client.send(
      `PUT ${accessTokenPath} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\nExpect: 100-continue\r\n\r\n`,
    )
    assertProblem(t, await client.response(), { status: 405, code: 'method-not-allowed' })
  })

  t.test('an own path is reached by every spelling of it', async (t) => {
    const pair = { SecretKey: account.secretKey, APIKey: account.apiKey }
    for (const path of [
      '/api/v1/accounts/%61ccess-token',
      '/%61%70%69/v1/accounts/access%2Dtoken',
      '/api/v1/accounts/access-token?x=1',
      '/api/v1/accounts/access-token?',
      'http://elsewhere.example/api/v1/accounts/access-token',
    ]) {
      t.equal((await askJson(t, gateway.url, path, pair)).status, 200, path)
    }
    t.equal((await ask(t, gateway.url, 'GET /.well-known/jwks%2Ejson')).status, 200)
    t.equal(backend.seen.length, 0)
  })

  t.test('any other path under /api/v1 is proxied', async (t) => {
    for (const path of [
      '/api/v1',
      '/api/v1/accounts',
      '/api/v1/accounts/access-tokens',
      '/api/v1/accounts/access-token/x',
      '/API/v1/accounts/refresh-token',
      '/api/v1/accounts%2Frefresh-token',
      '/api/v1/orders?x=1',
      '/.well-known/other.json',
    ]) {
      const response = await ask(t, gateway.url, `POST ${path}`, ['Content-Type: application/json'], '{}')
      t.equal(response.body, 'ok', path)
      t.equal(backend.last().url, path)
    }
  })

  t.test('an upgrade on an own path is an ordinary request, even inside a WebSocket route', async (t) => {
    const upgrade = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13']
    const seen = backend.seen.length
    const refused = await ask(t, gateway.url, `GET ${accessTokenPath}`, upgrade)
    assertProblem(t, refused, { status: 405, code: 'method-not-allowed' })
    const jwks = await ask(t, gateway.url, `GET ${jwksPath}`, upgrade)
    t.equal(jwks.status, 200)
    t.type(jwks.json().keys, Array)
    t.equal(backend.seen.length, seen)
  })

  t.test('credential headers are ignored on public own paths', async (t) => {
    const headers = ['SecretKey: wrong', 'SecretKey: twice', 'Authorization: Bearer wrong']
    t.equal((await ask(t, gateway.url, `GET ${jwksPath}`, headers)).status, 200)
    const { RefreshToken } = await gateway.tokens(account)
    const response = await askJson(t, gateway.url, refreshTokenPath, { token: RefreshToken }, headers)
    t.equal(response.status, 200)
  })
})

t.test('own paths exist without any route', async (t) => {
  const gateway = await startGateway(t, { config: { routes: [] } })
  const account = await gateway.createAccount()
  t.match(await gateway.tokens(account), { Id: account.account.id })
  assertProblem(t, await ask(t, gateway.url, 'GET /api/v1/x'), { status: 404, code: 'route-not-found' })
})
