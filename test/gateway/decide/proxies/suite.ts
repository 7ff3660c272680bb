import type { Test } from 'tap'
import { type Answer, type Backend, startBackend } from '../../../setup/backend.ts'
import type { TestGateway } from '../../../setup/gateway.ts'
import { until } from '../../../setup/net.ts'
import { rawRequest } from '../../../setup/raw-client.ts'
import { ask } from '../../support/ask.ts'
import { leadingFields } from '../../support/leading-fields.ts'
import { newProofClient } from '../../support/proofs.ts'
import { openWebSocket, record, startWebSocketBackend } from '../../support/web-socket.ts'
import { startDecideGateway } from '../support.ts'
import { foreignPaths, ownPaths } from './own-paths.ts'
import { type ProxyKind, type RunningProxy, startProxy } from './run-proxy.ts'

/** A proxy in front of a backend, which asks a gateway. */
export interface Guarded {
  readonly gateway: TestGateway
  readonly backend: Backend
  readonly proxy: RunningProxy
}

const routes = [
  { name: 'public', path: '/public', auth: 'none' },
  { name: 'optional', path: '/optional', auth: 'optional' },
  { name: 'key', path: '/key', auth: 'secretKey' },
  { name: 'any', path: '/any', auth: 'any' },
  { name: 'read', path: '/read', methods: ['GET'], auth: 'none' },
  { name: 'admin', path: '/admin', auth: 'any', roles: ['Admin'] },
  { name: 'left', path: '/left', auth: 'any', authorization: 'backend' },
  { name: 'rated', path: '/rated', auth: 'none', rateLimit: { limit: 2, per: '1h', by: 'ip' } },
]

/** In which proxies say what they know of the certificate of a client, in every spelling that reaches the same name. */
export const certificateFields: readonly string[] = [
  'Client-Cert',
  'Client-Cert-Chain',
  'X-Forwarded-Client-Cert',
  'X-Forwarded-Tls-Client-Cert',
  'X-Forwarded-Tls-Client-Cert-Info',
].flatMap((name) => [name, name.toLowerCase(), name.replaceAll('-', '_'), name.replaceAll('-', '.')])

/** What only a proxy may say, those names aside that each proxy sets by itself. */
export const proxyFields: readonly string[] = [
  'Forwarded',
  'Proxy',
  'X-Accel-Mapping',
  'X-Forwarded',
  'X-Forwarded-Access-Token',
  'X-Forwarded-By',
  'X-Forwarded-Email',
  'X-Forwarded-Groups',
  'X-Forwarded-Method',
  'X-Forwarded-Path',
  'X-Forwarded-Port',
  'X-Forwarded-Preferred-Username',
  'X-Forwarded-Prefix',
  'X-Forwarded-Scheme',
  'X-Forwarded-Server',
  'X-Forwarded-Ssl',
  'X-Forwarded-Uri',
  'X-Forwarded-User',
  'X-HTTP-Method',
  'X-HTTP-Method-Override',
  'X-HTTP-Path-Override',
  'X-Method-Override',
  'X-Original-URL',
  'X-Real-IP',
  'X-Rewrite-URL',
  'X-Script-Name',
  'X-Sendfile-Type',
]

export async function startGuarded(
  t: Test,
  kind: ProxyKind,
  config: Readonly<Record<string, unknown>> = {},
  answer?: Answer,
): Promise<Guarded> {
  const backend = await startBackend(t, answer)
  const identity = { assertion: { enabled: true } }
  const gateway = await startDecideGateway(t, { config: { routes, identity, ...config } })
  const proxy = await startProxy(t, kind, {
    gatehouse: gateway.url,
    decide: gateway.decideUrl,
    backend: backend.url,
  })
  return { gateway, backend, proxy }
}

/** What a backend behind a deciding proxy can rely on, whichever proxy it is. */
export function testProxy(t: Test, kind: ProxyKind): void {
  t.test(
    `${kind.name}: an allowed request reaches the backend with the identity, and without credentials`,
    async (t) => {
      const { gateway, backend, proxy } = await startGuarded(t, kind)
      const { account, secretKey } = await gateway.createAccount()
      const body = 'x'.repeat(20_000)
      const headers = [`SecretKey: ${secretKey}`, 'Cookie: a=b', 'X-Custom: kept', 'Content-Type: text/plain']
      const response = await ask(t, proxy.url, 'POST /key/x%20y?a=b%2Fc', headers, body)
      t.equal(response.status, 200, response.body)
      const { method, url, headers: got, body: gotBody } = backend.last()
      t.equal(`${method} ${url}`, 'POST /key/x%20y?a=b%2Fc')
      t.equal(gotBody, body)
      t.match(got, { 'x-user-id': account.id, 'x-user-role': 'User', 'x-custom': 'kept', cookie: 'a=b' })
      t.match(got['x-gatehouse-assertion'], /^[\w-]+\.[\w-]+\.[\w-]+$/)
      t.match(got['x-request-id'], /^[0-9a-f-]{36}$/)
      t.notOk(JSON.stringify(backend.last()).includes(secretKey), 'no credential')
    },
  )

  t.test(`${kind.name}: a bearer token decides, and does not reach the backend`, async (t) => {
    const { gateway, backend, proxy } = await startGuarded(t, kind)
    const owner = await gateway.createAccount()
    const { JwtToken } = await gateway.tokens(owner)
    const response = await ask(t, proxy.url, 'GET /any', [`Authorization: Bearer ${JwtToken}`])
    t.equal(response.status, 200)
    t.equal(backend.last().headers['x-user-id'], owner.account.id)
    t.equal(backend.last().headers.authorization, undefined)
  })

  t.test(
    `${kind.name}: an Authorization that is the backend's is left as it is, and only there`,
    async (t) => {
      const { gateway, backend, proxy } = await startGuarded(t, kind)
      const { account, secretKey } = await gateway.createAccount()
      const key = `SecretKey: ${secretKey}`
      const theirs = 'Authorization: Bearer of-the-backend'
      t.equal((await ask(t, proxy.url, 'GET /left', [key, theirs])).status, 200)
      t.match(backend.last().headers, { authorization: 'Bearer of-the-backend', 'x-user-id': account.id })
      t.notOk('secretkey' in backend.last().headers)
      t.notOk('x-gatehouse-authorization' in backend.last().headers, 'what is said to the proxy')
      const seen = backend.seen.length
      t.match((await ask(t, proxy.url, 'GET /left', [theirs])).status, 401)
      t.match(
        String((await ask(t, proxy.url, 'GET /left', [key, `Authorization: Bearer ${secretKey}`])).status),
        /400|403/,
      )
      t.equal(backend.seen.length, seen)
      const claims = [
        'X-Gatehouse-Authorization: backend',
        'x-gatehouse-authorization: backend',
        'X_Gatehouse_Authorization: backend',
      ]
      for (const claim of claims) {
        await ask(t, proxy.url, 'GET /key', [key, 'Authorization: token of-a-client', claim])
        t.notOk('authorization' in backend.last().headers, claim)
      }
    },
  )

  t.test(`${kind.name}: our cookies do not reach the backend, and other cookies do`, async (t) => {
    const app = { name: 'app', path: '/app', auth: 'bearer', browser: { cookie: true } }
    const accessCookie = { enabled: true }
    const { gateway, backend, proxy } = await startGuarded(t, kind, {
      accessCookie,
      routes: [...routes, app],
    })
    const owner = await gateway.createAccount()
    const { JwtToken } = await gateway.tokens(owner)
    const own = `accessToken=${JwtToken}`
    const send = (path: string, cookies: string | readonly string[], ...headers: readonly string[]) =>
      ask(t, proxy.url, `GET ${path}`, [...[cookies].flat().map((each) => `Cookie: ${each}`), ...headers])
    const forwarded = () =>
      [backend.last().headers.cookie ?? '']
        .flatMap((field) => field.split(/; */))
        // Caddy cannot take one cookie out of several.
        .filter((each) => !['', 'accessToken=removed', '__Host-accessToken=removed'].includes(each))
    for (const cookies of [
      own,
      `${own}; a=1; b=2`,
      `a=1; ${own}; b=2`,
      `a=1; b=2; ${own}`,
      `a=1;${own};b=2`,
    ]) {
      t.equal((await send('/app', cookies, 'Sec-Fetch-Site: same-origin')).status, 200)
      t.equal(backend.last().headers['x-user-id'], owner.account.id)
      t.strictSame(forwarded(), cookies === own ? [] : ['a=1', 'b=2'], cookies.replace(JwtToken, '…'))
      t.notMatch(JSON.stringify(backend.last()), JwtToken)
    }
    for (const cookies of ['notAccessToken=1; b=accessToken', 'a=1; myaccessToken=2; accessTokens=3']) {
      t.equal((await send('/public', cookies)).status, 200)
      t.strictSame(forwarded(), cookies.split('; '))
    }
    for (const cookies of [`__Host-${own}; a=1`, `a=1; __Host-${own}`]) {
      t.equal((await send('/public', cookies)).status, 200)
      t.strictSame(forwarded(), ['a=1'])
    }
    // Only a client that should not sends these: other cookies may go with them.
    const seen = backend.seen.length
    const wrong = [
      `${own}; ${own}`,
      `${own}; a=1; ${own}`,
      ['a=1', own],
      [own, 'a=1'],
      'refreshToken=of-an-account',
      'a=1; refreshToken=of-an-account; b=2',
      `refreshToken=of-an-account; ${own}`,
    ]
    for (const cookies of wrong) {
      t.equal((await send('/public', cookies, 'DPoP: proof')).status, 200)
      t.notOk('dpop' in backend.last().headers)
    }
    t.notMatch(JSON.stringify(backend.seen.slice(seen)), new RegExp(`${JwtToken}|of-an-account`))
  })

  t.test(`${kind.name}: a client learns the nonce that its proofs need`, async (t) => {
    // Not with keys too: nginx 1.22 passes on only the first challenge.
    const bound = { name: 'bound', path: '/bound', auth: 'bearer' }
    const { gateway, backend, proxy } = await startGuarded(t, kind, {
      dpop: { nonce: true },
      routes: [bound],
    })
    const { account, apiKey, secretKey } = await gateway.createAccount()
    const client = await newProofClient()
    const tokenPath = '/api/v1/oauth/token'
    const askForToken = async (nonce?: string) => {
      const url = `http://gateway.test${tokenPath}`
      const proof = await client.prove({ method: 'POST', url }, { claims: { nonce } })
      const form = { grant_type: 'client_credentials', client_id: apiKey, client_secret: secretKey }
      const headers = ['Content-Type: application/x-www-form-urlencoded', `DPoP: ${proof}`]
      return ask(t, proxy.url, `POST ${tokenPath}`, headers, new URLSearchParams(form).toString())
    }
    const first = await askForToken()
    t.match(first.json(), { error: 'use_dpop_nonce' })
    const token = String((await askForToken(first.headers['dpop-nonce'])).json().access_token)

    const askForBound = async (nonce?: string) => {
      const proof = await client.prove({ url: 'http://gateway.test/bound', token }, { claims: { nonce } })
      return ask(t, proxy.url, 'GET /bound', [`Authorization: DPoP ${token}`, `DPoP: ${proof}`])
    }
    const { status, headers } = await askForBound()
    t.equal(status, 401)
    t.match(headers['www-authenticate'], /^DPoP .*error="use_dpop_nonce"/)
    t.equal(backend.seen.length, 0)
    t.equal((await askForBound(headers['dpop-nonce'])).status, 200)
    t.equal(backend.last().headers['x-user-id'], account.id)
    t.notOk((await ask(t, proxy.url, 'GET /bound')).headers['dpop-nonce'])
  })

  t.test(`${kind.name}: a refused request does not reach the backend`, async (t) => {
    const { gateway, backend, proxy } = await startGuarded(t, kind)
    const { secretKey } = await gateway.createAccount()
    const missing = await ask(t, proxy.url, 'GET /key')
    t.equal(missing.status, 401)
    t.match(missing.headers['www-authenticate'], /SecretKey realm="gatehouse"/)
    const key = `SecretKey: ${secretKey}`
    const cases: readonly (readonly [line: string, headers: readonly string[], status: RegExp])[] = [
      ['GET /key', ['SecretKey: wrong'], /401/],
      ['GET /key', [key, key], /400|401|403/],
      ['GET /any', [key, 'Authorization: Bearer a.b.c'], /400|401|403/],
      ['GET /admin', [key], /403/],
      ['GET /nowhere', [], /403|404/],
      ['POST /read', [], /403|405/],
      ['TRACE /public', [], /400|403|405/],
    ]
    for (const [line, headers, status] of cases) {
      const response = await ask(t, proxy.url, line, headers)
      t.match(String(response.status), status, `${line} ${headers}`)
    }
    t.equal(backend.seen.length, 0)
  })

  t.test(`${kind.name}: no client says who it is, whatever the spelling`, async (t) => {
    const { gateway, backend, proxy } = await startGuarded(t, kind)
    const { account, secretKey } = await gateway.createAccount()
    const spoofed = [
      'X-User-Id: admin',
      'x-user-id: admin',
      'X_User_Id: admin',
      'X-User_Id: admin',
      'x.user.id: admin',
      'X-User-Role: Admin',
      'X_USER_ROLE: Admin',
      'X-User-Email: admin@example.com',
      'X-User-Session: admin',
      'X-Gatehouse-Assertion: admin',
      'X_Gatehouse_Assertion: admin',
    ]
    for (const path of ['/public', '/optional', '/key']) {
      for (const spoof of [...spoofed.map((line) => [line]), spoofed]) {
        const headers = path === '/key' ? [...spoof, `SecretKey: ${secretKey}`] : spoof
        const before = backend.seen.length
        const { status } = await ask(t, proxy.url, `GET ${path}`, headers)
        if (backend.seen.length === before) t.ok(status >= 400, 'refused')
        else assertIdentity(t, backend, path === '/key' ? account.id : undefined)
      }
    }
    t.ok(backend.seen.length > 0)
  })

  t.test(`${kind.name}: a name in Connection does not remove the identity`, async (t) => {
    const { gateway, backend, proxy } = await startGuarded(t, kind)
    const { account, secretKey } = await gateway.createAccount()
    for (const connection of [
      'close, X-User-Id',
      'X-User-Id, X-User-Role',
      'keep-alive, X-Gatehouse-Assertion',
    ]) {
      const headers = [`SecretKey: ${secretKey}`, `Connection: ${connection}`]
      t.equal((await ask(t, proxy.url, 'GET /key', headers)).status, 200)
      t.match(backend.last().headers, { 'x-user-id': account.id, 'x-user-role': 'User' }, connection)
      t.match(backend.last().headers['x-gatehouse-assertion'], /\./, connection)
    }
  })

  t.test(`${kind.name}: a client cannot describe another request than its own`, async (t) => {
    const { backend, proxy } = await startGuarded(t, kind)
    const claims = [
      'X-Forwarded-Uri: /public',
      'X-Forwarded-Method: GET',
      'X-Forwarded-Host: other.test',
      'X-Forwarded-Proto: https',
      'X-Original-URL: /public',
      'X-Rewrite-URL: /public',
      'X-HTTP-Path-Override: /public',
      'X-Script-Name: /claimed.test',
      'X-Sendfile-Type: X-Accel-Redirect',
      'X-Accel-Mapping: /claimed.test=/etc',
      'X-Forwarded_Uri: /public',
      'X_Forwarded_Uri: /public',
    ]
    for (const line of ['GET /key', 'GET /key?deny=403', 'POST /read', 'GET /admin'])
      for (const claim of [...claims.map((each) => [each]), claims]) {
        const { status } = await ask(t, proxy.url, line, claim)
        t.ok(status >= 400, `${line} ${claim}: ${status}`)
      }
    t.equal(backend.seen.length, 0)
    await ask(t, proxy.url, 'GET /public', ['X-Forwarded-For: 198.51.100.1', 'X-Real-IP: 198.51.100.1'])
    t.notOk(JSON.stringify(backend.last()).includes('198.51.100.1'), 'no claimed address')
    await ask(t, proxy.url, 'GET /public', claims)
    t.notMatch(
      JSON.stringify(backend.last().rawHeaders),
      /other\.test|claimed\.test|X-Original-URL|X-Rewrite-URL|X-Sendfile|Path-Override/i,
    )
  })

  t.test(`${kind.name}: a client's own word about its certificate gets nowhere`, async (t) => {
    const neighbours = {
      gatehouse: await startBackend(t),
      decide: await startBackend(t),
      backend: await startBackend(t),
    }
    const { gatehouse, decide, backend } = neighbours
    const proxy = await startProxy(t, kind, {
      gatehouse: gatehouse.url,
      decide: decide.url,
      backend: backend.url,
    })
    const send = async (path: string, names: readonly string[]) => {
      const claims = names.map((name) => `${name}: claimed`)
      t.equal((await ask(t, proxy.url, `GET ${path}`, claims)).status, 200)
    }
    await send('/portal/sign-in', certificateFields)
    await send('/public', certificateFields)
    for (const [name, { seen }] of Object.entries(neighbours)) {
      t.equal(seen.length, 1, name)
      t.notMatch(JSON.stringify(seen), 'claimed', name)
    }
  })

  t.test(`${kind.name}: a client says nothing that only a proxy may say`, async (t) => {
    const { backend, proxy } = await startGuarded(t, kind)
    const claims = proxyFields.map((name) => `${name}: claimed`)
    t.equal((await ask(t, proxy.url, 'GET /public', claims)).status, 200)
    t.notMatch(JSON.stringify(backend.last()), 'claimed')
  })

  t.test(`${kind.name}: an answer of the backend leads past no decision`, async (t) => {
    const gateway = await startDecideGateway(t, { config: { routes } })
    let path = ''
    const backend = await startBackend(t, (request, response) => {
      response.writeHead(200, leadingFields(path)).end(`hostile ${request.url}`)
    })
    const proxy = await startProxy(t, kind, {
      gatehouse: gateway.url,
      decide: gateway.decideUrl,
      backend: backend.url,
    })
    for (path of [
      '/admin/x',
      '/api/v1/openapi.json',
      '/.well-known/jwks.json',
      '/_gatehouse',
      '@refused',
      '/etc/passwd',
    ]) {
      const answer = await ask(t, proxy.url, 'GET /public/x')
      t.match(answer, { status: 200, body: 'hostile /public/x' }, path)
    }
    t.strictSame(new Set(backend.seen.map(({ url }) => url)), new Set(['/public/x']))
  })

  t.test(`${kind.name}: no service worker of a backend reaches the portal`, async (t) => {
    const script = { name: 'script', path: '/sw.js', auth: 'none' }
    const answer: Answer = (_request, response) => {
      const fields = { 'Service-Worker-Allowed': '/', Vary: 'Accept-Language' }
      response.writeHead(200, { 'Content-Type': 'text/javascript', ...fields }).end('ok')
    }
    const { backend, proxy } = await startGuarded(t, kind, { routes: [...routes, script] }, answer)
    const asWorker = ['Service-Worker: script']
    t.equal((await ask(t, proxy.url, 'GET /sw.js', asWorker)).status, 403)
    t.equal(backend.seen.length, 0)
    for (const [line, headers] of [
      ['GET /sw.js', []],
      ['GET /public/sw.js', asWorker],
    ] as const) {
      const { status, headers: got } = await ask(t, proxy.url, line, headers)
      t.equal(status, 200, line)
      t.equal(got['service-worker-allowed'], undefined, line)
      t.strictSame(got.vary?.split(/, *|\n/).toSorted(), ['Accept-Language', 'Service-Worker'], line)
    }
  })

  t.test(`${kind.name}: second targets are decided about, in every spelling`, async (t) => {
    const { gateway, backend, proxy } = await startGuarded(t, kind)
    const { secretKey } = await gateway.createAccount()
    const put = (...headers: readonly string[]) =>
      ask(t, proxy.url, 'PUT /key/x', [`SecretKey: ${secretKey}`, ...headers], 'x')
    for (const name of ['Destination', 'X-Copy-From', 'X-Amz-Copy-Source', 'X-Ms-Copy-Source']) {
      t.equal((await put(`${name}: /key/y`)).status, 200, name)
      t.equal(backend.last().headers[name.toLowerCase()], '/key/y')
      t.equal((await put(`${name}: /admin/hidden`)).status, 403, name)
      for (const spelled of [name.replaceAll('-', '_'), name.replaceAll('-', '.'), name.replaceAll('-', '')])
        await put(`${spelled}: /admin/hidden`)
    }
    await put('New-URI: /admin/hidden')
    t.notMatch(JSON.stringify(backend.seen), 'hidden')
  })

  t.test(`${kind.name}: the host that is decided about is the one that the client called`, async (t) => {
    const { gateway, backend, proxy } = await startGuarded(t, kind)
    const { secretKey } = await gateway.createAccount()
    const send = (...lines: readonly string[]) =>
      rawRequest(t, proxy.url, [...lines, `SecretKey: ${secretKey}`])
    const host = 'gateway.test:18400'
    const put = (authority: string) =>
      send('PUT /key/x HTTP/1.1', `Host: ${host}`, `Destination: http://${authority}/key/y`)
    t.equal((await put(host)).status, 200, 'with its port')
    t.match(backend.last().headers, { host, 'x-forwarded-host': host })
    t.equal((await put('gateway.test')).status, 403, 'another port')
    const seen = backend.seen.length
    await send('GET /key/x HTTP/1.0')
    for (const path of ['/key/x', '/api/v1/openapi.json']) {
      const twice = await send(`GET ${path} HTTP/1.1`, `Host: ${host}`, 'Host: other.test')
      t.match(twice, { status: /^4/ }, path)
    }
    t.match(await send('GET /key/x HTTP/1.1', `Host: other.test, ${host}`), { status: /^4/ }, 'two in one')
    t.equal(backend.seen.length, seen)
  })

  t.test(`${kind.name}: limits count the client, whatever it claims`, async (t) => {
    const { backend, proxy } = await startGuarded(t, kind)
    const statuses: number[] = []
    for (let index = 0; index < 4; index++) {
      const claim = [`X-Forwarded-For: 198.51.100.${index}`]
      statuses.push((await ask(t, proxy.url, 'GET /rated', claim)).status)
    }
    t.strictSame(statuses, [200, 200, 429, 429])
    t.equal(backend.seen.length, 2)
  })

  t.test(`${kind.name}: a path that two servers read differently does not get past a decision`, async (t) => {
    const { backend, proxy } = await startGuarded(t, kind)
    const paths = [
      '/public/../admin',
      '/public/%2e%2e/admin',
      '/public/..%2fadmin',
      '/public/..;/admin',
      '/public/%2e%2e%2fadmin',
      '//admin',
      '/./admin',
      '/public//../admin',
      '/Admin',
      '/%61dmin',
      '/admin%2fx',
      '/public\\..\\admin',
      '/portal/../admin',
      '/public/%252e%252e/admin',
      '/public?/../admin',
    ]
    for (const path of paths) {
      const before = backend.seen.length
      const { status } = await ask(t, proxy.url, `GET ${path}`)
      if (backend.seen.length === before) t.ok(status >= 400, `${path} is refused: ${status}`)
      else t.match(backend.last().url, /^\/public[?/](?!\.\.(?:\/|$))/, path)
    }
    t.notOk(backend.seen.some(({ url }) => /^\/*(?:admin|%61dmin)/i.test(decodeURI(url.split('?')[0] ?? ''))))
  })

  t.test(`${kind.name}: every path of Gatehouse itself is left to the main listener`, async (t) => {
    const answering = (text: string, status = 200) =>
      startBackend(t, (_request, response) => void response.writeHead(status).end(text))
    const [gatehouse, decide, backend] = [
      await answering('gatehouse'),
      await answering('refused', 403),
      await answering('backend'),
    ]
    const proxy = await startProxy(t, kind, {
      gatehouse: gatehouse.url,
      decide: decide.url,
      backend: backend.url,
    })
    for (const path of ownPaths)
      t.match(await ask(t, proxy.url, `GET ${path}`), { status: 200, body: 'gatehouse' }, path)
    for (const path of foreignPaths) t.equal((await ask(t, proxy.url, `GET ${path}`)).status, 403, path)
    t.equal(backend.seen.length, 0)
  })

  t.test(`${kind.name}: the paths of Gatehouse itself are answered by Gatehouse`, async (t) => {
    const { gateway, backend, proxy } = await startGuarded(t, kind)
    const owner = await gateway.createAccount()
    const response = await fetch(`${proxy.url}/api/v1/accounts/access-token`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ SecretKey: owner.secretKey, APIKey: owner.apiKey }),
    })
    t.equal(response.status, 200)
    t.match(await response.json(), { Id: owner.account.id })
    t.equal((await fetch(`${proxy.url}/.well-known/jwks.json`)).status, 200)
    t.equal((await fetch(`${proxy.url}/api/v1/openapi.json`)).status, 200)
    t.equal((await fetch(`${proxy.url}/.well-known/oauth-authorization-server`)).status, 200)
    const granted = await fetch(`${proxy.url}/api/v1/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: owner.apiKey,
        client_secret: owner.secretKey,
      }),
    })
    t.equal(granted.status, 200)
    t.match(await (await fetch(`${proxy.url}/portal/sign-in`)).text(), /<form/)
    t.equal(backend.seen.length, 0)
  })
}

/** @param id undefined = anonymous */
function assertIdentity(t: Test, { last }: Backend, id: string | undefined): void {
  const { rawHeaders } = last()
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? '').toLowerCase().replaceAll(/[^a-z]/g, '')
    const value = rawHeaders[index + 1] ?? ''
    if (name === 'xuserid') t.equal(value, id ?? '')
    else if (name === 'xuserrole') t.equal(value, id === undefined ? '' : 'User')
    else if (name === 'xgatehouseassertion') t.not(value, 'admin')
    else if (name.startsWith('xuser')) t.equal(value, '', name)
  }
}

/** What a backend gets of a WebSocket, where the proxy passes them. */
export function testWebSockets(t: Test, kind: ProxyKind): void {
  t.test(
    `${kind.name}: a WebSocket is decided about, and reaches the backend with the identity`,
    async (t) => {
      const backend = await startWebSocketBackend(t)
      const gateway = await startDecideGateway(t, { config: { routes } })
      const proxy = await startProxy(t, kind, {
        gatehouse: gateway.url,
        decide: gateway.decideUrl,
        backend: backend.url,
      })
      const { account, secretKey } = await gateway.createAccount()
      const headers = { SecretKey: secretKey, 'X-User-Role': 'Admin' }
      const socket = await openWebSocket(t, `${proxy.url}/key`, { headers })
      const { messages } = record(socket)
      socket.send('hello')
      await until('it comes back', () => messages.length === 1 || undefined)
      const [upgrade] = backend.upgrades
      t.match(upgrade?.headers, { 'x-user-id': account.id, 'x-user-role': 'User' })
      t.equal(upgrade?.headers.secretkey, undefined)
      const refused = await ask(t, proxy.url, 'GET /key', [
        'Connection: Upgrade',
        'Upgrade: websocket',
        'Sec-WebSocket-Version: 13',
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      ])
      t.equal(refused.status, 401)
      t.equal(backend.upgrades.length, 1)
    },
  )
}
