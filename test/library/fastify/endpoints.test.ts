import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import cookie from '@fastify/cookie'
import Fastify from 'fastify'
import t from 'tap'
import { gatehouse } from '#library/fastify.ts'
import { rawRequest } from '../../setup/raw-client.ts'
import { startApp } from './start-app.ts'

const json = { 'Content-Type': 'application/json' }

t.test('an app issues, refreshes and revokes tokens at the paths of the gateway', async (t) => {
  const { url, createAccount, tokens } = await startApp(t, {
    routes: (app) => {
      app.get('/me', { onRequest: app.gatehouse.require({ auth: 'bearer' }) }, () => 'reached')
    },
  })
  const { RefreshToken, JwtToken } = await tokens(await createAccount())
  const call = (token: string) => fetch(`${url}/me`, { headers: { Authorization: `Bearer ${token}` } })
  t.equal((await call(JwtToken)).status, 200)

  const refreshed = await fetch(`${url}/api/v1/accounts/refresh-token`, {
    method: 'POST',
    headers: { Cookie: `refreshToken=${RefreshToken}` },
  })
  t.equal(refreshed.status, 200)
  t.match(refreshed.headers.get('set-cookie'), /^refreshToken=.+HttpOnly.*SameSite=Strict/)
  const { refreshToken, jwtToken } = (await refreshed.json()) as Record<string, string>
  t.equal((await call(jwtToken ?? '')).status, 200)

  const revoked = await fetch(`${url}/api/v1/accounts/revoke-token`, {
    method: 'POST',
    headers: json,
    body: JSON.stringify({ token: refreshToken }),
  })
  t.equal(revoked.status, 200)
  const after = await call(jwtToken ?? '')
  t.equal(after.status, 401)
  t.match(await after.json(), { code: 'token-revoked' })
})

t.test('the admin API, keys, usage and the public keys are served by the app', async (t) => {
  const { url, createAccount } = await startApp(t, {
    routes: (app) => {
      app.get('/me', { onRequest: app.gatehouse.require() }, () => 'reached')
    },
  })
  const { secretKey, account } = await createAccount({ role: 'Admin' })
  const headers = { SecretKey: secretKey }
  const list = await fetch(`${url}/api/v1/admin/accounts`, { headers })
  t.match(await list.json(), { items: [{ id: account.id }] })
  const jwks = (await (await fetch(`${url}/.well-known/jwks.json`)).json()) as { keys: unknown[] }
  t.equal(jwks.keys.length, 1)
  t.equal((await fetch(`${url}/me`, { headers })).status, 200)
  t.equal((await fetch(`${url}/api/v1/accounts/usage`, { headers })).status, 200)
  t.equal((await fetch(`${url}/api/v1/openapi.json`)).status, 200)
  const wrongMethod = await fetch(`${url}/api/v1/admin/accounts`, { method: 'PUT', headers })
  t.equal(wrongMethod.status, 405)
  t.equal(wrongMethod.headers.get('allow'), 'GET, HEAD, POST')
  const anonymous = await fetch(`${url}/api/v1/admin/accounts`)
  t.match(await anonymous.json(), { code: 'credentials-missing' })
  const revoked = await fetch(`${url}/api/v1/keys/revoke`, {
    method: 'POST',
    headers: json,
    body: JSON.stringify({ key: secretKey }),
  })
  t.equal(revoked.status, 200)
})

t.test('the portal is not among the endpoints of an app', async (t) => {
  const { url } = await startApp(t, { routes: () => {} })
  t.equal((await fetch(`${url}/portal`)).status, 404)
})

t.test(
  'bodies of endpoints are limited and parsed as in the gateway, whatever parsers the app has',
  async (t) => {
    const { url } = await startApp(t, {
      before: (app) => {
        app.addContentTypeParser('text/plain', { parseAs: 'string' }, (_request, body, done) =>
          done(null, body),
        )
      },
      routes: () => {},
    })
    const post = (body: string, type: string) =>
      fetch(`${url}/api/v1/accounts/access-token`, {
        method: 'POST',
        headers: { 'Content-Type': type },
        body,
      })
    const codeOf = async (response: Response) => ((await response.json()) as { code: string }).code
    t.equal(await codeOf(await post('{}', 'text/plain')), 'media-type-unsupported')
    t.equal(await codeOf(await post('[]', 'application/json')), 'request-invalid')
    const members = (length: number) => JSON.stringify({ SecretKey: 'x', APIKey: 'y'.repeat(length - 30) })
    const exact = members(65_536 + 30 - JSON.stringify({ SecretKey: 'x', APIKey: '' }).length)
    t.equal(exact.length, 65_536)
    t.equal(await codeOf(await post(exact, 'application/json')), 'credentials-invalid')
    t.equal(await codeOf(await post(`${exact} `, 'application/json')), 'body-too-large')
    t.equal(await codeOf(await post(members(1_000_000), 'application/json')), 'body-too-large')
  },
)

t.test('an app that uses cookies itself can host the endpoints', async (t) => {
  const { url, createAccount, tokens } = await startApp(t, {
    before: (app) => {
      app.register(cookie)
    },
    routes: (app) => {
      app.get('/mine', (_request, reply) => reply.setCookie('theme', 'dark').send('ok'))
    },
  })
  const { RefreshToken } = await tokens(await createAccount())
  t.match((await fetch(`${url}/mine`)).headers.get('set-cookie'), /theme=dark/)
  const refreshed = await fetch(`${url}/api/v1/accounts/refresh-token`, {
    method: 'POST',
    headers: { Cookie: `refreshToken=${RefreshToken}` },
  })
  t.equal(refreshed.status, 200)
})

t.test('no 100 is sent to a caller who is refused, and one to a caller who is admitted', async (t) => {
  const { url, createAccount } = await startApp(t, {
    routes: (app) => {
      app.post('/notes', { onRequest: app.gatehouse.require() }, (request) => request.body)
    },
  })
  const { secretKey } = await createAccount()
  const head = (path: string, key: string) => [
    `POST ${path} HTTP/1.1`,
    'Host: a',
    `SecretKey: ${key}`,
    'Content-Type: application/json',
    'Content-Length: 2',
    'Expect: 100-continue',
  ]
  t.equal((await rawRequest(t, url, head('/notes', 'wrong'))).status, 401)
  t.equal((await rawRequest(t, url, head('/notes', secretKey))).status, 100)
  t.equal((await rawRequest(t, url, head('/api/v1/accounts/access-token', ''))).status, 100)
  const tooLarge = head('/api/v1/accounts/access-token', '').with(4, 'Content-Length: 65537')
  t.equal((await rawRequest(t, url, tooLarge)).status, 413)
})

t.test('a config is refused with every problem, and for what only the gateway has', async (t) => {
  const register = async (config: Record<string, unknown>) => {
    const app = Fastify()
    const error: unknown = await app.register(gatehouse, { config }).then(
      () => undefined,
      (reason: unknown) => reason,
    )
    await app.close()
    return String(error)
  }
  const listener = await register({
    listen: { port: 1 },
    limits: { headers: '1KiB', streams: 9, bodyRate: '1B' },
    portal: {},
  })
  for (const path of ['listen', 'limits.headers', 'limits.streams', 'limits.bodyRate', 'portal'])
    t.ok(listener.includes(`config  ${path}: is an option of the standalone gateway`), path)
  const wrong = await register({ tokens: { accessLifetime: '10' }, stor: {} })
  t.ok(wrong.includes('config  tokens.accessLifetime: must be a duration'))
  t.ok(wrong.includes('config  stor: unknown option, did you mean "store"?'))
})

t.test('an app can share the config file of a gateway', async (t) => {
  const dir = t.testdir()
  const file = join(dir, 'gateway.yaml')
  writeFileSync(
    file,
    'listen: { port: 1 }\nkeys: { sealingKey: { file: sealing.key } }\nstore: { sqlite: { path: gatehouse.db } }\n',
  )
  const app = Fastify()
  await app.register(gatehouse, { config: file })
  app.get('/me', { onRequest: app.gatehouse.require() }, () => 'reached')
  t.equal((await app.inject('/me')).statusCode, 401)
  t.equal(app.gatehouse.health(), 'ok')
  t.match(await app.gatehouse.metrics(), /gatehouse_auth_decisions_total\{.*credentials-missing/)
  await app.close()
})
