import { request } from 'node:http'
import { connect } from 'node:http2'
import t, { type Test } from 'tap'
import { accessTokenPath, ask, refreshTokenPath } from '../gateway/support/ask.ts'
import {
  type CookieJar,
  createCookieJar,
  csrfIn,
  givePassword,
  pageVisit,
  sameOrigin,
  signInAt,
  submit,
} from '../gateway/support/cookie-jar.ts'
import { startWebSocketBackend } from '../gateway/support/web-socket.ts'
import { startBoth } from '../setup/both.ts'
import { startGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import type { RawResponse } from '../setup/raw-client.ts'

const listed = 'https://app.example.com'
const lifetimeMs = 600_000
const sessionLifetimeMs = 3_600_000

/** A person who is signed in, behind a backend that says what it is told about caching. */
async function start(t: Test, tokens: object = {}) {
  let passedMs = 0
  const { backend, gateway } = await startBoth(t, {
    answer: (request, response) => {
      const caching = request.headers['x-caching']
      const status = Number(request.headers['x-status'] ?? 200)
      response.writeHead(status, typeof caching === 'string' ? { 'Cache-Control': caching } : {})
      response.end(status === 304 ? '' : 'from the backend')
    },
    clock: () => Date.now() + passedMs,
    config: {
      accessCookie: { enabled: true, lifetime: '10m' },
      cookie: { sameSite: 'None', secure: true },
      cors: { origins: [listed] },
      portal: { sessionLifetime: '1h' },
      tokens: { clockTolerance: '0s', ...tokens },
      routes: [
        {
          name: 'app',
          path: '/app',
          upstream: 'backend',
          auth: 'any',
          browser: { cookie: true, signIn: true },
        },
      ],
    },
  })
  const { account } = await gateway.createAccount()
  await givePassword(t, gateway, account.id)
  const jar = createCookieJar(t, gateway.url)
  await signInAt(jar, '/portal/sign-in', account.email)
  const tokenOf = ({ cookies }: CookieJar) => cookies.get('accessToken') ?? ''
  return {
    backend,
    gateway,
    account,
    jar,
    token: () => tokenOf(jar),
    pass: (ms: number) => {
      passedMs += ms
    },
  }
}

const renewedBy = ({ headers }: RawResponse) =>
  headers['set-cookie']?.split('\n').find((line) => line.startsWith('accessToken='))

t.test('the access cookie of a sign-in is renewed in its second half, until the sign-in ends', async (t) => {
  const { backend, account, jar, token, pass } = await start(t)
  const first = token()
  t.not(first, '')
  pass(lifetimeMs / 2 - 5_000)
  t.equal(renewedBy(await jar.ask('GET /app')), undefined, 'not in its first half')
  pass(10_000)
  const line = renewedBy(await jar.ask('GET /app'))
  t.match(line, /^accessToken=[\w.-]+; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=None$/)
  t.not(token(), first)
  t.equal(renewedBy(await jar.ask('GET /app')), undefined, 'and the new one is in its first half')

  let renewals = 1
  let response: RawResponse
  let passed = lifetimeMs / 2 + 5_000
  for (;;) {
    pass(lifetimeMs / 2 + 1_000)
    passed += lifetimeMs / 2 + 1_000
    response = await jar.ask('GET /app')
    if (response.status !== 200) break
    t.equal(backend.last().headers['x-user-id'], account.id)
    if (renewedBy(response) !== undefined) renewals++
  }
  t.ok(renewals >= 9, `${renewals} renewals`)
  t.ok(passed >= sessionLifetimeMs && passed <= sessionLifetimeMs + lifetimeMs, `ended after ${passed} ms`)
  t.equal(response.status, 401)
})

t.test(
  'where keys were exchanged it is renewed until the session ends, which only a refresh delays',
  async (t) => {
    const idleMs = sessionLifetimeMs / 2
    const { gateway, jar, pass } = await start(t, { refreshLifetime: '2h', refreshIdle: '30m' })
    const stepMs = lifetimeMs / 2 + 1_000
    /** Asks now and then. @returns for how long the cookie passes, at most */
    async function usedFor(browser: CookieJar, mostMs = Number.POSITIVE_INFINITY): Promise<number> {
      let passed = 0
      for (; passed < mostMs && (await browser.ask('GET /app')).status === 200; passed += stepMs) pass(stepMs)
      return passed
    }
    const isAbout = (ms: number, expected: number) => ms >= expected && ms <= expected + stepMs
    const signedIn = await usedFor(jar)
    t.ok(isAbout(signedIn, sessionLifetimeMs), `a sign-in to the portal lasts for ${signedIn} ms`)

    const { secretKey, apiKey } = await gateway.createAccount()
    const browser = createCookieJar(t, gateway.url)
    const keys = JSON.stringify({ SecretKey: secretKey, APIKey: apiKey })
    const json = ['Content-Type: application/json', ...sameOrigin]
    t.equal((await browser.ask(`POST ${accessTokenPath}`, json, keys)).status, 200)
    await usedFor(browser, idleMs / 2)
    t.equal((await browser.ask(`POST ${refreshTokenPath}`)).status, 200)
    const refreshed = await usedFor(browser)
    t.ok(isAbout(refreshed, idleMs), `ended ${refreshed} ms after its last refresh`)
    t.equal((await browser.ask(`POST ${refreshTokenPath}`)).status, 401, 'as the session does')
  },
)

t.test('parallel requests get the same renewed cookie', async (t) => {
  const { gateway, token, pass } = await start(t)
  pass(lifetimeMs / 2 + 5_000)
  const headers = [`Cookie: accessToken=${token()}`, ...sameOrigin]
  const responses = await Promise.all(
    Array.from({ length: 20 }, () => ask(t, gateway.url, 'GET /app', headers)),
  )
  const lines = new Set(responses.map(renewedBy))
  t.equal(lines.size, 1)
  t.notOk(lines.has(undefined))
})

t.test('no page of another site renews it, nor a response that a shared cache may store', async (t) => {
  const { gateway, token, pass } = await start(t)
  pass(lifetimeMs / 2 + 5_000)
  const renewed = async (headers: readonly string[]) => {
    const response = await ask(t, gateway.url, 'GET /app', [`Cookie: accessToken=${token()}`, ...headers])
    t.ok(response.status === 200 || response.status === 304, `${headers} passes`)
    return renewedBy(response) !== undefined
  }
  const crossSite = ['Sec-Fetch-Site: cross-site', `Origin: ${listed}`]
  for (const [headers, expected] of [
    [sameOrigin, true],
    [['Sec-Fetch-Site: same-site'], true],
    [['Sec-Fetch-Site: none'], true],
    [crossSite, false],
    [[`Origin: ${listed}`], false],
    [[...sameOrigin, 'X-Caching: private, max-age=60'], true],
    [[...sameOrigin, 'X-Caching: no-store'], true],
    [[...sameOrigin, 'X-Caching: public, max-age=60'], false],
    [[...sameOrigin, 'X-Caching: max-age=60'], false],
    [[...sameOrigin, 'X-Caching: private, s-maxage=60'], false],
    [[...sameOrigin, 'X-Caching: private="x-private"'], false],
    [[...sameOrigin, 'X-Status: 304', 'X-Caching: private'], false],
  ] as const)
    t.equal(await renewed(headers), expected, headers.join('; '))
})

t.test('a token that was exchanged for keys, or sent as Bearer, is not renewed', async (t) => {
  const { gateway, token, pass } = await start(t)
  const { JwtToken } = await gateway.tokens(await gateway.createAccount())
  pass(lifetimeMs / 2 + 5_000)
  for (const [field, why] of [
    [`Cookie: accessToken=${JwtToken}`, 'a token of a program in the cookie'],
    [`Authorization: Bearer ${token()}`, 'the token of the cookie elsewhere'],
  ] as const) {
    const response = await ask(t, gateway.url, 'GET /app', [field, ...sameOrigin])
    t.equal(response.status, 200, why)
    t.equal(renewedBy(response), undefined, why)
  }
})

t.test('whoever signs out is signed out, with a renewed cookie too', async (t) => {
  const { gateway, jar, token, pass } = await start(t)
  pass(lifetimeMs / 2 + 5_000)
  const before = token()
  t.ok(renewedBy(await jar.ask('GET /app')))
  const after = token()
  t.not(after, before)
  const csrf = csrfIn(await jar.ask('GET /portal/sessions', pageVisit('same-origin')))
  await submit(jar, '/portal/sign-out', { csrf })
  for (const each of [before, after]) {
    const asked = () => ask(t, gateway.url, 'GET /app', [`Cookie: accessToken=${each}`, ...sameOrigin])
    await until('it is refused', async () => (await asked()).status === 401, 5_000)
    t.equal(renewedBy(await asked()), undefined)
  }
})

t.test('an upgrade and a request over HTTP/2 renew it too', async (t) => {
  let passedMs = 0
  const app = { name: 'app', path: '/ws', upstream: 'backend', auth: 'any', websocket: true }
  const gateway = await startGateway(t, {
    backend: (await startWebSocketBackend(t)).url,
    clock: () => Date.now() + passedMs,
    config: {
      accessCookie: { enabled: true, lifetime: '10m' },
      routes: [{ ...app, browser: { cookie: true, signIn: true } }],
    },
  })
  const { account } = await gateway.createAccount()
  await givePassword(t, gateway, account.id)
  const jar = createCookieJar(t, gateway.url)
  await signInAt(jar, '/portal/sign-in', account.email)
  passedMs = lifetimeMs / 2 + 5_000
  const page = { cookie: `accessToken=${jar.cookies.get('accessToken')}`, 'sec-fetch-site': 'same-origin' }

  const upgrade = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  }
  const upgraded = await new Promise((resolve, reject) => {
    const handshake = request(`${gateway.url}/ws`, { headers: { ...page, ...upgrade } })
    handshake.on('upgrade', ({ statusCode, headers }, socket) => {
      socket.destroy()
      resolve([statusCode, headers['set-cookie']])
    })
    handshake.on('response', ({ statusCode }) => reject(new Error(`no upgrade: ${statusCode}`)))
    handshake.on('error', reject).end()
  })
  t.match(upgraded, [101, [/^accessToken=/]])

  const session = connect(gateway.url)
  t.teardown(() => session.destroy())
  const stream = session.request({ ':path': '/ws', ...page })
  const response = await new Promise((resolve, reject) => {
    stream.on('response', resolve).on('error', reject)
  })
  t.match(response, { ':status': 200, 'set-cookie': [/^accessToken=/] })
})
