import t, { type Test } from 'tap'
import { ask, askJson } from '../gateway/support/ask.ts'
import {
  createCookieJar,
  csrfIn,
  givePassword,
  pageVisit,
  sameOrigin,
  signInAt,
  submit,
} from '../gateway/support/cookie-jar.ts'
import { upgradeLines } from '../gateway/support/web-socket.ts'
import { startBoth } from '../setup/both.ts'
import { type StoreDriver, storeDrivers, type TestGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import type { RawResponse } from '../setup/raw-client.ts'

const listed = 'https://app.example.com'

/** A gateway whose routes take the access cookie, before a backend that sets the cookies that it is told to. */
async function start(
  t: Test,
  config: Readonly<Record<string, unknown>> = {},
  driver: StoreDriver = 'sqlite',
) {
  const route = { upstream: 'backend', auth: 'any' }
  const browser = { cookie: true, signIn: true }
  const { backend, gateway } = await startBoth(t, {
    answer: (request, response) => {
      const wanted = request.headers['x-set']
      response.writeHead(200, typeof wanted === 'string' ? { 'Set-Cookie': wanted.split('|') } : {})
      response.end('from the backend')
    },
    driver,
    config: {
      accessCookie: { enabled: true },
      cors: { origins: [listed] },
      routes: [
        { ...route, name: 'app', path: '/app', websocket: true, browser },
        { ...route, name: 'admin', path: '/app/admin', roles: ['Admin'], browser },
        { ...route, name: 'files', path: '/files', browser: { cookie: true } },
        { ...route, name: 'maybe', path: '/maybe', auth: 'optional', browser: { cookie: true } },
        { ...route, name: 'override', path: '/override', methodOverride: 'pass', browser: { cookie: true } },
        { ...route, name: 'passing', path: '/passing', forwardCredentials: true, browser: { cookie: true } },
        { ...route, name: 'api', path: '/api' },
        { ...route, name: 'public', path: '/public', auth: 'none' },
      ],
      ...config,
    },
  })
  return { backend, gateway }
}

/** Somebody who is signed in, by both keys. @returns the access token */
async function accessTokenOf(gateway: TestGateway): Promise<string> {
  return (await gateway.tokens(await gateway.createAccount())).JwtToken
}

const codeOf = (response: RawResponse) => (response.status === 200 ? 'passes' : String(response.json().code))

t.test(
  'the access cookie counts only where a route says so, no other credential came, and for the same site',
  async (t) => {
    const { backend, gateway } = await start(t)
    const token = await accessTokenOf(gateway)
    const cookie = `Cookie: a=1; accessToken=${token}; b=2`
    const own = `Origin: http://gateway.test`
    const send = async (line: string, headers: readonly string[]) =>
      codeOf(await ask(t, gateway.url, line, headers))
    const site = (value: string) => `Sec-Fetch-Site: ${value}`
    const [missing, passes] = ['credentials-missing', 'passes']

    for (const [line, headers, expected, why] of [
      ['GET /files', [cookie, site('same-origin')], passes, 'an image of the own page'],
      ['GET /files', [cookie, site('same-site')], passes, 'of another host of the site'],
      ['GET /files', [cookie, site('none')], passes, 'an address that was typed'],
      ['GET /files', [cookie, site('cross-site')], missing, 'an image on a foreign page'],
      ['GET /files', [cookie, site('cross-site'), own], missing, 'Origin does not outweigh Sec-Fetch-Site'],
      ['GET /files', [cookie, site('cross-site'), `Origin: ${listed}`], passes, 'a page of cors.origins'],
      ['GET /files', [cookie, site('odd')], missing, 'a value that is none'],
      ['GET /files', [cookie, site('same-origin'), site('same-origin')], missing, 'twice'],
      ['GET /files', [cookie, own], passes, 'by Origin alone'],
      ['GET /files', [cookie, 'Origin: https://gateway.test'], missing, 'another scheme is another origin'],
      [
        'GET /files',
        [cookie, 'Origin: http://gateway.test.evil.example'],
        missing,
        'a name that begins like ours',
      ],
      ['GET /files', [cookie, 'Origin: null'], missing, 'a sandboxed page'],
      ['GET /files', [cookie, own, own], missing, 'two origins'],
      ['GET /files', [cookie], passes, 'neither, but the cookie is SameSite=Strict'],
      ['HEAD /files', [cookie, site('same-site')], passes, 'HEAD is safe'],
      ['POST /files', [cookie, site('same-origin')], passes, 'a form of the own page'],
      ['POST /files', [cookie, site('same-site')], missing, 'a form of another host'],
      ['POST /files', [cookie, site('none')], missing, 'nobody types a POST'],
      ['POST /files', [cookie, site('cross-site')], missing, 'a foreign form'],
      ['POST /files', [cookie, site('same-site'), `Origin: ${listed}`], passes, 'a page of cors.origins'],
      ['DELETE /files', [cookie, own], passes, 'by Origin'],
      ['DELETE /files', [cookie, 'Origin: https://evil.example'], missing, 'a foreign origin'],
      ['POST /files', [cookie], missing, 'neither: nothing is known of it'],
      ['PROPFIND /files', [cookie, site('same-site')], missing, 'a method that is not known to be safe'],
      [
        'GET /override',
        [cookie, site('same-site'), 'X-HTTP-Method-Override: DELETE'],
        missing,
        'a GET that is none',
      ],
      ['GET /override', [cookie, site('same-origin')], passes, 'of the same origin it may be any'],
      ['GET /app', [cookie, site('same-site'), ...upgradeLines], missing, 'a WebSocket of another host'],
      [
        'GET /app',
        [cookie, 'Origin: https://evil.example', ...upgradeLines],
        missing,
        'a WebSocket of another site',
      ],
      ['GET /app', [cookie, ...upgradeLines], missing, 'a WebSocket of nobody knows where'],
      [
        'GET /files',
        [cookie, site('same-site'), 'Sec-WebSocket-Key: x'],
        missing,
        'whose Upgrade was taken off',
      ],
      ['GET /app', [cookie, own, ...upgradeLines], passes, 'a WebSocket of the own page'],
      ['GET /api', [cookie, site('same-origin')], missing, 'a route that does not take it'],
      ['GET /files', ['Cookie: accessToken=', site('same-origin')], missing, 'an empty one'],
      ['GET /files', ['Cookie: accessToken=x', site('same-origin')], 'token-invalid', 'a made-up one'],
      [
        'GET /maybe',
        ['Cookie: accessToken=x', site('same-origin')],
        'token-invalid',
        'only absence is anonymous',
      ],
      ['GET /maybe', [cookie, site('cross-site')], passes, 'anonymous, as it does not count'],
      ['GET /files', [cookie, site('same-origin'), 'SecretKey: wrong'], 'secret-key-invalid', 'beside a key'],
      [
        'GET /files',
        [cookie, site('same-origin'), 'Authorization: Bearer x'],
        'token-invalid',
        'beside a token',
      ],
      [
        'GET /files',
        [cookie, site('same-origin'), 'Authorization: Basic eA=='],
        passes,
        "beside the backend's",
      ],
    ] as const) {
      const label = `${line}, ${why}`
      if (!line.startsWith('HEAD')) t.equal(await send(line, headers), expected, label)
      else t.equal((await ask(t, gateway.url, line, headers)).status, 200, label)
    }
    t.equal(backend.seen.at(-1)?.headers['x-user-role'], 'User')
    const anonymous = await ask(t, gateway.url, 'GET /maybe', [cookie, site('cross-site')])
    t.equal(anonymous.status, 200)
    t.notOk(backend.last().headers['x-user-id'])

    const { secretKey } = await gateway.createAccount()
    for (const line of ['GET /app', 'GET /api', 'GET /maybe', 'GET /passing', 'GET /public']) {
      for (const spelled of [
        cookie,
        `cookie: accessToken=${token}; accessToken=${token}; a=1; b=2`,
        `COOKIE: a=1;accessToken\t= ${token};b=2`,
        `Cookie: a=1; b=2; ACCESSTOKEN=${token}; %61ccessToken=${token}; "accessToken"=${token}`,
        `Cookie: a=1; b=2; gatehouse-visit=x.1; refreshToken=x; x=1, accessToken=${token}`,
      ]) {
        const key = line.endsWith('public') ? [] : [`SecretKey: ${secretKey}`]
        t.equal(
          (await ask(t, gateway.url, line, [spelled, ...key])).status,
          200,
          `${line} ${spelled.slice(0, 30)}`,
        )
        t.match(
          backend.last().headers.cookie,
          /^a=1; ?b=2$/,
          `${line} ${spelled.slice(0, 30)}: no backend gets it`,
        )
      }
    }
    t.match(
      gateway.logLines.join(''),
      /the access cookie is ignored: the request comes from a page of another site/,
    )
    t.notMatch(gateway.logLines.join(''), token.slice(-20))
  },
)

t.test('tossed cookies are ambiguous, and backends set none of ours', async (t) => {
  const { backend, gateway } = await start(t)
  const [mine, theirs] = [await accessTokenOf(gateway), await accessTokenOf(gateway)]
  for (const cookies of [
    [`Cookie: accessToken=${theirs}; accessToken=${mine}`],
    [`Cookie: accessToken=${mine}; a=1; accessToken=${mine}`],
    [`Cookie: accessToken=${mine}`, `Cookie: accessToken=${theirs}`],
    [`Cookie: accessToken=${mine}`, 'cookie: accessToken =x'],
  ]) {
    const tossed = await ask(t, gateway.url, 'GET /app', [...cookies, ...sameOrigin])
    t.equal(codeOf(tossed), 'credentials-ambiguous', cookies.join())
    const visit = await ask(t, gateway.url, 'GET /app', [...cookies, ...pageVisit()])
    t.equal(visit.status, 400, 'and no sign-in helps')
    t.match(visit.headers['content-type'], 'text/html', 'a person reads it as a page')
  }
  t.equal(backend.seen.length, 0)

  const attempts = [
    'accessToken=evil; Path=/',
    '=accessToken=evil; Path=/app',
    'ACCESSTOKEN=evil',
    ' accessToken =evil',
    'refreshToken=evil; Path=/api/v1/accounts',
    'gatehouse-portal=evil; Path=/portal',
    '__Secure-gatehouse-portal=evil; Path=/portal; Secure',
    'gatehouse-form=evil; Path=/portal',
    'gatehouse-sign-in-0=evil; Path=/portal/sign-in',
    '__Secure-gatehouse-confirmed=evil; Path=/portal',
    'gatehouse-notice=password-changed; Path=/portal',
    '__Secure-gatehouse-notice=password-changed; Path=/portal',
    'gatehouse-visit=evil',
  ]
  for (const line of ['GET /app', 'GET /public']) {
    const set = `X-Set: theirs=1|${attempts.join('|')}|accessTokens=2`
    const response = await ask(t, gateway.url, line, [set, `Authorization: Bearer ${mine}`])
    t.strictSame(response.headers['set-cookie']?.split('\n'), ['theirs=1', 'accessTokens=2'], line)
  }
})

t.test('a tossed refresh cookie refreshes and revokes nothing', async (t) => {
  const { gateway } = await start(t)
  const issue = async () => (await gateway.tokens(await gateway.createAccount())).RefreshToken
  const [mine, theirs] = [await issue(), await issue()]
  const refresh = (cookies: readonly string[]) =>
    ask(t, gateway.url, 'POST /api/v1/accounts/refresh-token', cookies)
  for (const cookies of [
    [`Cookie: refreshToken=${theirs}; refreshToken=${mine}`],
    [`Cookie: refreshToken=${mine}; a=1; refreshToken=${theirs}`],
    [`Cookie: refreshToken=${mine}`, `Cookie: refreshToken=${theirs}`],
    [`Cookie: refreshToken=${mine}; refreshToken =x`],
  ]) {
    const tossed = await refresh(cookies)
    t.match([tossed.status, codeOf(tossed)], [400, 'credentials-ambiguous'], cookies.join())
    t.notOk(tossed.headers['set-cookie'], 'neither is cleared: the other one would count')
    const revoked = await ask(t, gateway.url, 'POST /api/v1/accounts/revoke-token', cookies)
    t.equal(codeOf(revoked), 'credentials-ambiguous')
  }
  t.equal((await refresh([`Cookie: refreshToken=${mine}; refreshToken=${mine}; refreshToken=`])).status, 200)
  t.equal((await refresh([`Cookie: refreshToken=${theirs}`])).status, 200, 'both sessions go on')
})

t.test('with a tossed cookie of the portal nobody is signed in', async (t) => {
  const { gateway } = await start(t)
  const signIn = async () => {
    const { account } = await gateway.createAccount()
    await givePassword(t, gateway, account.id)
    const jar = createCookieJar(t, gateway.url)
    await signInAt(jar, '/portal/sign-in', account.email)
    return { email: account.email, cookie: `gatehouse-portal=${jar.cookies.get('gatehouse-portal')}` }
  }
  const [mine, theirs] = [await signIn(), await signIn()]
  const open = (...cookies: readonly string[]) =>
    ask(t, gateway.url, 'GET /portal/profile', [`Cookie: ${cookies.join('; ')}`, ...pageVisit('same-origin')])
  t.match(await open(mine.cookie, mine.cookie), { status: 200, body: mine.email })
  for (const cookies of [
    [theirs.cookie, mine.cookie],
    [mine.cookie, theirs.cookie],
    [mine.cookie, 'gatehouse-portal=x'],
  ]) {
    const tossed = await open(...cookies)
    t.match(tossed, { status: 303, headers: { location: '/portal/sign-in?next=%2Fprofile' } })
  }
})

t.test('the token endpoints set and clear it, but not for pages of other sites', async (t) => {
  const { gateway } = await start(t, { cookie: { sameSite: 'Lax' } })
  const { secretKey, apiKey } = await gateway.createAccount()
  const keys = { SecretKey: secretKey, APIKey: apiKey }
  const issue = (headers: readonly string[] = []) =>
    askJson(t, gateway.url, '/api/v1/accounts/access-token', keys, headers)
  const setsOf = (response: RawResponse) => response.headers['set-cookie']?.split('\n') ?? []

  const issued = await issue()
  const { JwtToken, RefreshToken } = issued.json()
  const set = setsOf(issued)[1] ?? ''
  t.match(set, /^accessToken=[\w.-]+; Max-Age=3600; Path=\/; HttpOnly; SameSite=Lax$/)
  t.notMatch(set, JwtToken, 'one of its own, which lives longer')
  t.equal(issued.headers['cache-control'], 'no-store')
  t.equal(setsOf(await issue([`Origin: ${listed}`, 'Sec-Fetch-Site: cross-site'])).length, 2, 'cors.origins')
  for (const foreign of [['Sec-Fetch-Site: cross-site'], ['Origin: https://evil.example'], ['Origin: null']])
    t.equal(setsOf(await issue(foreign)).length, 1, `${foreign}: nobody is signed in by another site`)

  const refresh = (headers: readonly string[]) =>
    ask(t, gateway.url, 'POST /api/v1/accounts/refresh-token', [
      `Cookie: refreshToken=${RefreshToken}`,
      ...headers,
    ])
  const refreshed = await refresh(sameOrigin)
  t.match(setsOf(refreshed)[1], /^accessToken=[\w.-]+; Max-Age=3600;/)
  t.equal((await refresh(['Sec-Fetch-Site: cross-site'])).status, 403)

  const cookie = `Cookie: accessToken=${refreshed.json().jwtToken}`
  t.equal((await ask(t, gateway.url, 'GET /files', [cookie, ...sameOrigin])).status, 200)
  t.equal(
    codeOf(await ask(t, gateway.url, 'GET /files', [cookie])),
    'credentials-missing',
    'Lax says too little',
  )
  const token = String(refreshed.json().refreshToken)
  const revoked = await askJson(t, gateway.url, '/api/v1/accounts/revoke-token', { token })
  t.strictSame(
    setsOf(revoked).map((set) => set.split(';', 1)[0]),
    ['refreshToken=', 'accessToken='],
  )
  t.equal(codeOf(await ask(t, gateway.url, 'GET /files', [cookie, ...sameOrigin])), 'token-revoked')
})

t.test('a page visit is led through the sign-in and back, and nowhere else', async (t) => {
  const { backend, gateway } = await start(t)
  const { account } = await gateway.createAccount()
  await givePassword(t, gateway, account.id)
  const { email } = account
  const jar = createCookieJar(t, gateway.url)
  const page = "/app/a%20b/;c='d'?e=(f)&g=%2F%2Fh!*"

  const visit = await jar.ask(`GET ${page}`, pageVisit('cross-site'))
  t.match(visit, { status: 303, headers: { 'cache-control': 'no-store' } })
  const continued = await jar.ask(`GET ${visit.headers.location}`, pageVisit())
  t.match(continued.headers.location, /^\/portal\/sign-in\?next=/)
  const signedIn = await signInAt(jar, String(continued.headers.location), email)
  const back = await jar.ask(`GET ${signedIn.headers.location}`, pageVisit('same-origin'))
  t.match(back, { status: 303, headers: { location: page, 'cache-control': 'no-store' } })
  t.equal((await jar.ask(`GET ${back.headers.location}`, pageVisit('same-origin'))).status, 200)
  t.match(backend.last(), { url: page, headers: { 'x-user-id': account.id } })
  t.notOk(backend.last().headers.cookie)

  // Silently, while the portal session lives; a link from elsewhere passes by the portal too.
  jar.cookies.delete('accessToken')
  const again = await jar.ask(`GET ${page}`, pageVisit())
  const renewed = await jar.ask(`GET ${again.headers.location}`, pageVisit())
  t.equal(renewed.headers.location, page)
  t.equal((await jar.ask(`GET ${page}`, pageVisit())).status, 200)
  t.equal((await jar.ask('POST /api/v1/accounts/refresh-token')).status, 200, 'a script can renew them too')
  t.equal((await jar.ask('GET /app/admin', pageVisit())).status, 403, 'another role is no reason to sign in')

  const where = async (line: string, headers: readonly string[]) =>
    (await ask(t, gateway.url, line, headers)).status
  const frame = pageVisit().map((line) => line.replace('document', 'iframe'))
  for (const [line, headers, status] of [
    ['GET /app', pageVisit(), 303],
    ['HEAD /app', pageVisit(), 303],
    ['GET /app', ['Accept: text/html'], 303],
    ['GET /app', ['Accept: application/json'], 401],
    ['GET /app', sameOrigin, 401],
    ['GET /app', ['Sec-Fetch-Mode: no-cors', 'Sec-Fetch-Dest: image', 'Accept: text/html'], 401],
    ['GET /app', frame, 401],
    ['POST /app', pageVisit('same-origin'), 401],
    ['GET /app', [...pageVisit(), 'SecretKey: wrong'], 401],
    ['GET /app', [...pageVisit(), 'Authorization: Bearer x'], 401],
    ['GET /app', [...pageVisit('same-origin'), 'Cookie: accessToken=x'], 303],
    ['GET /files', pageVisit(), 401],
    ['GET /maybe', pageVisit(), 200],
  ] as const)
    t.equal(await where(line, headers), status, `${line} ${headers}`)

  for (const to of [
    'https://evil.example/app',
    '//evil.example/app',
    '/\\evil.example/app',
    '\\/evil.example',
    '/app\\..\\..\\evil',
    '/%09/evil.example',
    '/\t/evil.example/app',
    '/\n/evil.example/app',
    '/app/../portal/sign-out',
    '/app/%2e%2e/portal',
    '/app//evil',
    '/app#x',
    '/portal/integration',
    '/api/v1/accounts/usage',
    '/files/x',
    '/public',
    '/nowhere',
    'app',
    '',
    '/app\u00e9',
    `/app/${'x'.repeat(996)}`,
  ]) {
    const landed = await jar.ask(
      `GET /portal/continue?to=${encodeURIComponent(to)}`,
      pageVisit('same-origin'),
    )
    t.match(
      landed,
      { status: 303, headers: { location: '/portal/integration' } },
      JSON.stringify(to.slice(0, 40)),
    )
    const stranger = createCookieJar(t, gateway.url)
    const path = `/portal/continue?to=${encodeURIComponent(to)}`
    const form = await signInAt(stranger, `/portal/sign-in?next=${encodeURIComponent(path.slice(7))}`, email)
    const after = form.headers.location ?? ''
    t.match(after, /^\/portal\//, 'the sign-in leads to the portal only')
  }
  const longest = `/app/${'x'.repeat(995)}`
  t.equal((await jar.ask(`GET /portal/continue?to=${longest}`, pageVisit())).headers.location, longest)
  const far = await ask(t, gateway.url, `GET /app?${'x'.repeat(5_000)}`, pageVisit())
  t.equal(far.headers.location, '/portal/continue?to=%2Fapp', 'without a query that is too long')
})

t.test('a visit that signing in does not help ends with a page, not in a circle', async (t) => {
  const { gateway } = await start(t)
  const { account } = await gateway.createAccount()
  await givePassword(t, gateway, account.id)
  const jar = createCookieJar(t, gateway.url)
  await signInAt(jar, '/portal/sign-in', account.email)
  let rounds = 0
  let response: RawResponse
  do {
    jar.cookies.delete('accessToken')
    response = await jar.ask('GET /app/page', pageVisit())
    if (response.status === 303) await jar.ask(`GET ${response.headers.location}`, pageVisit())
    rounds++
  } while (response.status === 303 && rounds < 10)
  t.equal(rounds, 6)
  t.match(response, { status: 401, body: /access cookie did not come back/ })
  t.match(response.headers['www-authenticate'], 'Bearer')
  t.notOk(jar.cookies.has('gatehouse-visit'), 'the next visit is counted anew')
  for (let other = 0; other < 10; other++)
    t.equal((await jar.ask(`GET /app/${other}`, pageVisit())).status, 303, 'several pages are no circle')
})

for (const driver of storeDrivers)
  t.test(
    `the session of the cookie ends with that of the portal, and with every other way to end it, on ${driver}`,
    async (t) => {
      const { gateway } = await start(t, {}, driver)
      const admin = await gateway.createAccount({ role: 'Admin' })
      const ways = {
        'signing out': async ({ jar }) => {
          const csrf = csrfIn(await jar.ask('GET /portal/sessions', pageVisit('same-origin')))
          await submit(jar, '/portal/sign-out', { csrf })
        },
        'signing out everywhere': async ({ jar }) => {
          const page = await jar.ask('GET /portal/sessions', pageVisit('same-origin'))
          t.match(page.body, 'Token sessions of browsers end too, those of clients do not.')
          t.notMatch(page.body, 'Token sessions are not affected.')
          await submit(jar, '/portal/sign-out-everywhere', { csrf: csrfIn(page) })
        },
        'an Admin ends the portal session': async ({ id }) => {
          await gateway.operate(async ({ sessions }) => {
            for (const session of await sessions.listPortal(id)) await sessions.endPortal(id, session.id)
          })
        },
        'an Admin ends all portal sessions': async ({ id }) => {
          await gateway.operate(({ sessions }) => sessions.endAllPortal(id))
        },
        'an Admin ends the token session': async ({ id }) => {
          await gateway.operate(async ({ sessions }) => {
            for (const session of await sessions.list(id)) await sessions.end(id, session.id)
          })
        },
        'the admin API ends all sessions': async ({ id }) => {
          const key = `SecretKey: ${admin.secretKey}`
          await ask(t, gateway.url, `DELETE /api/v1/admin/accounts/${id}/sessions`, [key])
        },
        'the admin API ends the session': async ({ id }) => {
          const key = `SecretKey: ${admin.secretKey}`
          const path = `/api/v1/admin/accounts/${id}/sessions`
          const { items } = (await ask(t, gateway.url, `GET ${path}`, [key])).json()
          for (const session of Array.isArray(items) ? items : [])
            await ask(t, gateway.url, `DELETE ${path}?session=${session.id}`, [key])
        },
        'all token sessions are ended in the portal': async ({ jar }) => {
          const page = await jar.ask('GET /portal/sessions', pageVisit('same-origin'))
          t.match(page.body, 'Browsers must sign in again.')
          await submit(jar, '/portal/sessions/end-all', { csrf: csrfIn(page) })
        },
        'the account is disabled': async ({ id }) => {
          await gateway.operate(({ accounts }) => accounts.update(id, { isDisabled: true }))
        },
        'another password': async ({ id }) => givePassword(t, gateway, id),
      } as const satisfies Readonly<
        Record<
          string,
          (who: { readonly id: string; readonly jar: ReturnType<typeof createCookieJar> }) => Promise<void>
        >
      >

      for (const [way, end] of Object.entries(ways)) {
        const { account } = await gateway.createAccount()
        await givePassword(t, gateway, account.id)
        const jar = createCookieJar(t, gateway.url)
        await signInAt(jar, '/portal/sign-in', account.email)
        t.equal((await jar.ask('GET /app')).status, 200)
        const before = new Map(jar.cookies)
        await end({ id: account.id, jar })
        jar.cookies.clear()
        for (const [name, value] of before) jar.cookies.set(name, value)
        const portalPage = await jar.ask('GET /portal/sessions', pageVisit('same-origin'))
        t.match(
          portalPage.headers.location,
          /^\/portal\/sign-in/,
          `${way}: the portal shows nothing any more`,
        )
        for (const [name, value] of before) jar.cookies.set(name, value)
        await until(
          `${way}: the access cookie is over`,
          async () => (await jar.ask('GET /app')).status !== 200,
        )
        t.not(
          (await jar.ask('POST /api/v1/accounts/refresh-token')).status,
          200,
          `${way}: so is the refresh cookie`,
        )
        for (const [name, value] of before) jar.cookies.set(name, value)
        jar.cookies.delete('accessToken')
        const visit = await jar.ask('GET /app', pageVisit())
        const next = await jar.ask(`GET ${visit.headers.location}`, pageVisit('same-origin'))
        t.match(next.headers.location, /^\/portal\/sign-in/, `${way}: and the portal asks who it is`)
        t.notOk(jar.cookies.has('accessToken'))
      }
    },
  )

t.test(
  "where it is not enabled, the name is the backends', but no backend gets a token of ours",
  async (t) => {
    const { backend, gateway } = await start(t, {
      accessCookie: { enabled: false },
      routes: [{ name: 'api', path: '/api', upstream: 'backend', auth: 'any' }],
    })
    const token = await accessTokenOf(gateway)
    const bearer = `Authorization: Bearer ${token}`
    const issued = await gateway.tokens(await gateway.createAccount())
    t.ok(issued)
    const response = await ask(t, gateway.url, 'GET /api', [
      bearer,
      'Cookie: accessToken=theirs; a=1',
      'X-Set: accessToken=theirs',
    ])
    t.equal(response.headers['set-cookie'], 'accessToken=theirs')
    t.equal(backend.last().headers.cookie, 'accessToken=theirs; a=1')
    await ask(t, gateway.url, 'GET /api', [bearer, `Cookie: accessToken=${token}; a=1`])
    t.equal(backend.last().headers.cookie, 'a=1', 'one from before the config was changed')
  },
)
