import t, { type Test } from 'tap'
import { ask } from '../gateway/support/ask.ts'
import {
  createCookieJar,
  givePassword,
  pageVisit,
  sameOrigin,
  signInAt,
} from '../gateway/support/cookie-jar.ts'
import { startBoth } from '../setup/both.ts'
import { rawRequest } from '../setup/raw-client.ts'

/*
 * What others of this kind had advisories for (oauth2-proxy, Pomerium, Authelia, authentik, Keycloak with Gatekeeper and
 * Louketo, mod_auth_openidc, Oathkeeper, Caddy, Envoy), tried here. Each case names one; classes that have a file of
 * their own are only touched.
 */

type Lines = readonly string[]

async function start(t: Test, config: Readonly<Record<string, unknown>> = {}) {
  const route = { upstream: 'backend', auth: 'any' }
  const { backend, gateway } = await startBoth(t, {
    config: {
      accessCookie: { enabled: true },
      decide: { port: 0 },
      routes: [
        { ...route, name: 'public', path: '/public', auth: 'none' },
        { ...route, name: 'admin', path: '/admin', roles: ['Admin'], websocket: true },
        { ...route, name: 'app', path: '/app', websocket: true, browser: { cookie: true, signIn: true } },
        { ...route, name: 'tenants', path: '/', host: 'b.example.com', auth: 'none' },
        { ...route, name: 'tenant', path: '/', host: 'a.b.example.com', roles: ['Admin'] },
      ],
      ...config,
    },
  })
  /** The status, and whether a backend has seen the request. */
  const outcomeOf = async (line: string, headers: Lines = [], host = 'gateway.test') => {
    const before = backend.seen.length
    const { status } = await rawRequest(t, gateway.url, [`${line} HTTP/1.1`, `Host: ${host}`, ...headers])
    return `${status}${backend.seen.length > before ? ' forwarded' : ''}`
  }
  return { gateway, backend, outcomeOf }
}

for (const trustedProxies of [[], ['127.0.0.1']])
  t.test(
    `no field says which route a request is for, trusted or not (${trustedProxies.length > 0})`,
    async (t) => {
      const { outcomeOf, backend, gateway } = await start(t, { trustedProxies })
      for (const [advisory, headers] of [
        ['CVE-2026-40575, CVE-2026-76835', ['X-Forwarded-Uri: /public']],
        ['CVE-2026-40575, by other names', ['X-Original-URL: /public', 'X-Rewrite-URL: /public']],
        [
          'the same',
          ['X-Original-URI: /public', 'X-Auth-Request-Redirect: /public', 'X-Envoy-Original-Path: /public'],
        ],
        ['CVE-2026-34457', ['User-Agent: GoogleHC/1.0']],
        ['CVE-2026-34457, other probes', ['User-Agent: kube-probe/1.30']],
        ['GHSA-vhr5-ggp3-qq85', ['X-Forwarded-Proto: http', 'X-Forwarded-Proto: https']],
        ['CVE-2024-47070', ['X-Forwarded-For: a']],
        ['the method', ['X-HTTP-Method-Override: OPTIONS', 'X-Method-Override: OPTIONS']],
      ] as const)
        t.match(await outcomeOf('GET /admin', headers), /^40[01]$/, advisory)
      t.equal(backend.seen.length, 0)

      // The same, of a proxy that asks for decisions.
      for (const [advisory, headers] of [
        ['CVE-2026-34457', ['User-Agent: GoogleHC/1.0']],
        ['CVE-2026-40575', ['X-Original-URL: /public', 'X-Rewrite-URL: /public']],
      ] as const) {
        const described = ['X-Forwarded-Method: GET', 'X-Forwarded-Proto: http', 'X-Forwarded-Uri: /admin']
        const { status } = await ask(t, gateway.decideUrl, 'GET /decide', [
          ...described,
          'X-Forwarded-Host: gateway.test',
          'X-Forwarded-For: 192.0.2.1',
          ...headers,
        ])
        t.equal(status, trustedProxies.length > 0 ? 401 : 403, advisory)
      }
    },
  )

t.test('a path is the same path for the route and for the backend', async (t) => {
  const { outcomeOf, backend } = await start(t)
  for (const [advisory, target] of [
    ['GHSA-7rh7-c77v-6434: the query', '/admin?x=/public'],
    ['the same', '/admin?/../public'],
    ['CVE-2026-41059, CVE-2021-32779: a fragment', '/admin#/public'],
    ['the same, encoded', '/admin%23/public'],
    ['the same, the other way round', '/public#/../admin'],
    ['CVE-2026-15573, CVE-2026-0976: parameters', '/admin;x=1'],
    ['the same', '/public;/../admin'],
    ['CVE-2026-15573: a slash', '/admin/'],
    ['CVE-2025-10939: slashes', '//admin'],
    ['the same', '/public//../admin'],
    ['CVE-2021-29492: encoded slashes', '/public%2f..%2fadmin'],
    ['the same', '/public%5c..%5cadmin'],
    ['CVE-2019-9901: dot segments', '/public/../admin'],
    ['the same', '/public/%2e%2e/admin'],
    ['CVE-2026-27587: case and escapes', '/%41dmin'],
    ['the same', '/ADMIN'],
  ] as const)
    t.match(await outcomeOf(`GET ${target}`), /^40[014]$/, `${advisory}: ${target}`)
  t.equal(backend.seen.length, 0)
})

t.test('a host is the same host however it is written', async (t) => {
  const { outcomeOf, gateway } = await start(t, { trustedProxies: ['127.0.0.1'] })
  t.equal(await outcomeOf('GET /x', [], 'b.example.com'), '200 forwarded')
  for (const host of ['a.b.example.com', 'a.B.example.com', 'A.B.EXAMPLE.COM', 'a.B.example.com:443']) {
    t.equal(await outcomeOf('GET /x', [], host), '401', `CVE-2026-48794, CVE-2026-27588: ${host}`)
    const decided = await ask(t, gateway.decideUrl, 'GET /decide', [
      'X-Forwarded-Method: GET',
      'X-Forwarded-Proto: http',
      'X-Forwarded-Uri: /x',
      `X-Forwarded-Host: ${host}`,
      'X-Forwarded-For: 192.0.2.1',
    ])
    t.equal(decided.status, 401, `decided: ${host}`)
  }
  for (const host of [
    'a.b.example.com.',
    'a.b.example.com@b.example.com',
    'b.example.com#a',
    'b.example.com/',
  ])
    t.notMatch(await outcomeOf('GET /x', [], host), 'forwarded', host)
})

t.test('no spelling of a field that the gateway sets or drops reaches a backend', async (t) => {
  const { gateway, backend } = await start(t)
  const { secretKey, account } = await gateway.createAccount({ role: 'Admin' })
  const names = ['X-Forwarded-For', 'X-Forwarded-Host', 'X-Forwarded-Proto', 'X-Forwarded-Uri', 'X-Real-IP']
  const identity = ['X-User-Id', 'X-User-Role', 'X-User-Email']
  const spelled = (name: string) => [
    name.replaceAll('-', '_'),
    name.replace('-', '_'),
    name.replaceAll('-', '.'),
    name.toUpperCase().replaceAll('-', '_'),
  ]
  const sent = [...names, ...identity].flatMap(spelled)
  await ask(t, gateway.url, 'GET /app', [`SecretKey: ${secretKey}`, ...sent.map((name) => `${name}: forged`)])
  const { headers } = backend.last()
  t.equal(headers['x-user-id'], account.id)
  const forged = Object.entries(headers).filter(([, value]) => String(value).includes('forged'))
  t.strictSame(forged, [], 'CVE-2025-64484: WSGI and PHP read underscores as dashes')
})

t.test('nobody is sent to another site, before or after signing in or out', async (t) => {
  const { gateway } = await start(t)
  const { account } = await gateway.createAccount()
  await givePassword(t, gateway, account.id)
  for (const [advisory, to] of [
    ['GHSA-qqxw-m5fj-f7gv', '/\\evil.example/app'],
    ['GHSA-j7px-6hwj-hpjg', '/ /evil.example/app'],
    ['the same', '/\t/evil.example/app'],
    ['the same', '/\n/evil.example'],
    ['CVE-2021-21291', 'https://gateway.test.evil.example/app'],
    ['CVE-2019-14857', '///evil.example/app'],
    ['CVE-2021-39191', 'https://evil.example/app'],
    ['CVE-2022-23527', '/\t/evil.example'],
    ['CVE-2024-52289', 'https://gatewayXtest/app'],
    ['CVE-2026-7504', 'https://gateway.test@x@evil.example/app'],
    ['CVE-2021-29652', '//evil.example/app?x=gateway.test'],
    ['GHSA-36f2-fcrx-fp4j', 'javascript:alert(1)'],
  ] as const) {
    const jar = createCookieJar(t, gateway.url)
    const query = new URLSearchParams({ next: to, to, rd: to, redirect_uri: to, target_link_uri: to })
    const signedIn = await signInAt(jar, `/portal/sign-in?${query}`, account.email)
    const label = `${advisory}: ${JSON.stringify(to)}`
    t.match(signedIn.headers.location, /^\/portal\/\w+$/, label)
    const continued = await jar.ask(`GET /portal/continue?${query}`, pageVisit('same-origin'))
    t.match(continued.headers.location, /^\/portal\/\w+$/, label)
    const out = await jar.ask(`POST /portal/sign-out?${query}`, pageVisit('same-origin'))
    t.notMatch(out.headers.location ?? '', 'evil', label)
  }
})

t.test('cookies that are many, broken or of others neither sign in nor harm', async (t) => {
  const { gateway, outcomeOf, backend } = await start(t)
  const { JwtToken } = await gateway.tokens(await gateway.createAccount())
  for (const [advisory, cookie] of [
    ['CVE-2023-28625', 'accessToken'],
    ['the same', 'accessToken=; accessToken_1='],
    ['CVE-2024-24814', `accessToken_chunks=99999999; ${'accessToken_0=x; '.repeat(300)}`],
    ['state cookies without end', 'gatehouse-sign-in-0=x; '.repeat(300)],
    ['a session of another cookie', `gatehouse-portal=${JwtToken}; accessToken=gps_x`],
    ['a signature of another form', `accessToken=${JwtToken}|1|x`],
    ['a part of it', `accessToken=${JwtToken.slice(0, -5)}`],
    ['in quotes', `accessToken="${JwtToken}"`],
    ['by a prefix', `__Host-accessToken=${JwtToken}; __Secure-accessToken=${JwtToken}`],
    ['by case', `AccessToken=${JwtToken}`],
  ] as const) {
    const outcome = await outcomeOf('GET /app', [`Cookie: ${cookie}`, ...sameOrigin])
    t.match(outcome, /^40[01]$/, advisory)
    const page = await outcomeOf('GET /portal/integration', [`Cookie: ${cookie}`, ...pageVisit()])
    t.match(page, /^303$/, `${advisory}, at the portal`)
  }
  t.equal(backend.seen.length, 0)
  t.equal(await outcomeOf('GET /app', [`Cookie: accessToken=${JwtToken}`, ...sameOrigin]), '200 forwarded')
  t.notOk(backend.last().headers.cookie, 'no backend gets a cookie of the gateway')
})

t.test('an upgrade or a form is authenticated like any request, and gets nothing before', async (t) => {
  const { gateway, outcomeOf, backend } = await start(t)
  const { JwtToken } = await gateway.tokens(await gateway.createAccount())
  const upgrade = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13']
  const webSocket = [...upgrade, 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==']
  const cookie = `Cookie: accessToken=${JwtToken}`
  for (const [advisory, line, headers] of [
    ['an upgrade without a credential', 'GET /app', webSocket],
    [
      'h2c smuggling',
      'GET /admin',
      ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__'],
    ],
    ['hijacking by another site', 'GET /app', [...webSocket, cookie, 'Origin: https://evil.example']],
    ['the same, as browsers say it', 'GET /app', [...webSocket, cookie, 'Sec-Fetch-Site: cross-site']],
    ['by a sibling host', 'GET /app', [...webSocket, cookie, 'Sec-Fetch-Site: same-site']],
    ['by nobody', 'GET /app', [...webSocket, cookie]],
    ['CVE-2025-31492: a form', 'POST /app', [...pageVisit('cross-site'), cookie, 'Content-Length: 0']],
    ['the same, without a cookie', 'POST /app', [...pageVisit(), 'Content-Length: 0']],
  ] as const)
    t.equal(await outcomeOf(line, headers), '401', advisory)
  t.equal(backend.seen.length, 0)
})

t.test('an address that cannot be read lifts no limit', async (t) => {
  const { gateway, outcomeOf } = await start(t, {
    trustedProxies: ['127.0.0.1'],
    limits: { failures: { limit: 5, per: '1h' } },
  })
  const guess = (address: string) =>
    outcomeOf('GET /app', [`X-Forwarded-For: ${address}`, 'SecretKey: gate_sk_wrong'])
  const addresses = ['a', '', 'unknown', '_hidden', '1.2.3', '::g', '1.2.3.4x', '%', 'a, b', 'localhost']
  const outcomes: string[] = []
  for (const address of addresses) outcomes.push(await guess(address))
  t.equal(outcomes.filter((outcome) => outcome === '429').length, 5, `CVE-2024-47070: ${outcomes}`)
  t.ok(gateway)
})
