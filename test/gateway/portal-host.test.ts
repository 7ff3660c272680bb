import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { tempFolder } from '../cli/run.ts'
import { startBoth } from '../setup/both.ts'
import type { TestGateway } from '../setup/gateway.ts'
import { clientId, clientSecret, startOpenIdProvider } from '../setup/openid-provider.ts'
import { rawRequest } from '../setup/raw-client.ts'
import { assertProblem } from './support/problem.ts'

const portalHost = 'portal.example.com'
const apiHost = 'api.example.com'
const notFound = { status: 404, code: 'route-not-found' }
const password = 'correct horse battery staple'

/** A gateway that has the portal on a host of its own. */
async function start(t: Test, portal: object = {}) {
  const { backend, gateway } = await startBoth(t, {
    config: {
      publicUrl: `https://${apiHost}`,
      portal: { host: 'Portal.example.com', ...portal },
      cors: { origins: ['https://app.example.com'] },
      routes: [{ name: 'everything', path: '/', upstream: 'backend', auth: 'none' }],
    },
  })
  const ask = (host: string, line: string, headers: readonly string[] = [], body = '') =>
    rawRequest(t, gateway.url, [`${line} HTTP/1.1`, `Host: ${host}`, ...headers], body)
  return { backend, gateway, ask }
}

t.test('the portal answers on its own host only, and no backend does there', async (t) => {
  const { backend, ask } = await start(t)
  for (const host of [portalHost, 'PORTAL.example.com', `${portalHost}:443`]) {
    const page = await ask(host, 'GET /portal/sign-in')
    t.equal(page.status, 200, host)
    t.match(page.body, 'Sign in')
  }
  for (const line of ['GET /', 'GET /orders', 'POST /sw.js', 'GET /portal2', 'OPTIONS /orders'])
    assertProblem(t, await ask(portalHost, line, ['Content-Length: 0']), notFound)
  assertProblem(t, await ask(portalHost, 'GET /sw.js', ['Service-Worker: script']), notFound)
  const preflight = ['Origin: https://app.example.com', 'Access-Control-Request-Method: GET']
  const refused = await ask(portalHost, 'OPTIONS /orders', preflight)
  assertProblem(t, refused, notFound)
  t.equal(backend.seen.length, 0)
  t.equal((await ask(portalHost, 'GET /.well-known/jwks.json')).status, 200, 'an endpoint of the gateway')
  t.equal((await ask(apiHost, 'GET /.well-known/jwks.json')).status, 200)

  for (const host of [apiHost, 'x.portal.example.com', 'localhost']) {
    t.equal((await ask(host, 'GET /portal/sign-in')).body, 'ok', `${host}: of the backend`)
    // No service worker of this origin reaches the portal.
    t.equal((await ask(host, 'GET /sw.js', ['Service-Worker: script'])).body, 'ok')
  }
  t.equal(backend.last().url, '/sw.js')
})

t.test('links lead to the portal host, and its cookies are of that host alone', async (t) => {
  const { gateway, ask } = await start(t)
  const { account } = await gateway.createAccount()
  const link = await gateway.operate(({ setupLinks }) => setupLinks.create(account.id))
  t.match(link.url, `https://${portalHost}/portal/setup#`)
  const page = await ask(portalHost, 'GET /portal/setup')
  const formCookie = page.headers['set-cookie'] ?? ''
  t.match(formCookie, /^__Host-gatehouse-form=\w+; Path=\/; HttpOnly; Secure; SameSite=Strict$/)
  const [, csrf = ''] = /name="csrf" value="([^"]+)"/.exec(page.body) ?? []
  const body = new URLSearchParams({ csrf, token: link.token, password, again: password }).toString()
  const send = (origin: string) =>
    ask(
      portalHost,
      'POST /portal/setup',
      [
        `Origin: ${origin}`,
        `Cookie: ${formCookie.split(';', 1)[0]}`,
        'Content-Type: application/x-www-form-urlencoded',
        `Content-Length: ${body.length}`,
      ],
      body,
    )
  assertProblem(t, await send(`https://${apiHost}`), { status: 403, code: 'cross-site-request' })
  const done = await send(`https://${portalHost}`)
  t.equal(done.status, 303)
  const session = done.headers['set-cookie']?.split('\n') ?? []
  t.match(
    session.join('\n'),
    /^__Host-gatehouse-portal=gps_\w+; Max-Age=43200; Path=\/; HttpOnly; Secure; SameSite=Strict$/m,
  )
  const cookie = session.map((line) => line.split(';', 1)[0]).join('; ')
  t.equal((await ask(portalHost, 'GET /portal/integration', [`Cookie: ${cookie}`])).status, 200)
  t.match(await explain(gateway, cookie), 'the session cookie decides')
})

t.test('a sign-in at a provider is bound to the browser by a cookie of the portal host alone', async (t) => {
  const provider = await startOpenIdProvider(t)
  const secretFile = join(tempFolder(t), 'client-secret')
  writeFileSync(secretFile, clientSecret)
  const { ask } = await start(t, {
    oidc: { issuer: provider.url, clientId, clientSecret: { file: secretFile }, label: 'Example ID' },
  })
  const begun = await ask(portalHost, 'GET /portal/sign-in/oidc')
  const cookie = begun.headers['set-cookie'] ?? ''
  t.match(
    cookie,
    /^__Host-gatehouse-sign-in-0=[\w-]+; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Lax$/m,
  )
  const state = new URL(begun.headers.location ?? '').searchParams.get('state') ?? ''
  const callback = `GET /portal/sign-in/oidc/callback?${new URLSearchParams({ state, code: 'x', iss: provider.url })}`
  const [own = ''] = /gatehouse-sign-in-0=[\w-]+/.exec(cookie) ?? []
  const asked = () => provider.requests.filter((line) => line === 'POST /token').length
  for (const prefix of ['', '__Secure-']) {
    t.equal((await ask(portalHost, callback, [`Cookie: ${prefix}${own}`])).status, 403, `planted: ${prefix}`)
    t.equal(asked(), 0, 'the provider is not asked')
  }
  await ask(portalHost, callback, [`Cookie: __Host-${own}`])
  t.equal(asked(), 1)
})

/** What `explain` says of the page. */
async function explain({ configFile }: TestGateway, cookie: string): Promise<string> {
  const { run } = await import('../cli/run.ts')
  const { stdout } = await run(t, [
    ...['explain', 'GET', `https://${portalHost}/portal/integration`],
    ...['-H', `Cookie: ${cookie}`, '-H', 'Accept: text/html', '--config', configFile],
  ])
  return stdout
}
