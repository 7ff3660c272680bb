import t, { type Test } from 'tap'
import { csrfIn, pageVisit, password } from '../gateway/support/cookie-jar.ts'
import {
  continuedTo,
  type HostBrowser,
  openHostBrowser,
  setPassword,
} from '../gateway/support/host-browser.ts'
import { readMetrics } from '../gateway/support/metrics.ts'
import { startBoth } from '../setup/both.ts'
import { type startGateway, storeDrivers } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { rawRequest } from '../setup/raw-client.ts'

const portalHost = 'auth.example.com'
const appHost = 'app.example.com'
const otherHost = 'other.example.net'
const returnPath = '/api/v1/accounts/sign-in'

const signIn = { upstream: 'backend', auth: 'any', browser: { cookie: true, signIn: true } }
const routes = [
  { ...signIn, name: 'app', path: '/app' },
  { ...signIn, name: 'other', path: '/', host: otherHost },
  { name: 'public', path: '/public', upstream: 'backend', auth: 'none' },
  { name: 'elsewhere', path: '/', host: 'plain.example.com', upstream: 'backend', auth: 'any' },
]

async function start(t: Test, options: Parameters<typeof startGateway>[1] = {}) {
  const time = { shiftMs: 0 }
  const { backend, gateway } = await startBoth(t, {
    answer: (request, response) => {
      const wanted = request.headers['x-set']
      response.writeHead(200, typeof wanted === 'string' ? { 'Set-Cookie': wanted.split('|') } : {}).end('ok')
    },
    clock: () => Date.now() + time.shiftMs,
    ...options,
    config: {
      publicUrl: `https://${appHost}`,
      portal: { host: portalHost },
      accessCookie: { enabled: true, name: '__Host-accessToken' },
      routes,
      ...options?.config,
    },
  })
  const { account } = await gateway.createAccount()
  const openBrowser = () => openHostBrowser(t, gateway.url)
  const signInAtPortal = async (browser: HostBrowser, path = '/portal/sign-in', email = account.email) => {
    const url = `https://${portalHost}${path}`
    const page = await browser.visit(url, 'same-origin')
    const next = /name="next" value="([^"]*)"/.exec(page.body)?.[1]?.replaceAll('&amp;', '&') ?? ''
    const form = { csrf: csrfIn(page), next, email, password }
    return browser.visit(`https://${portalHost}/portal/sign-in`, 'same-origin', form)
  }
  /** What a signed-in browser gets at the portal for a visit. @returns the URL with the code */
  const codeUrlFor = async (browser: HostBrowser, location: string) => {
    const page = await browser.visit(location, 'same-origin')
    return continuedTo(page)
  }
  return { gateway, backend, account, time, openBrowser, signInAtPortal, codeUrlFor }
}

for (const driver of storeDrivers) {
  t.test(`a page visit signs in on the portal's own host and comes back, with ${driver}`, async (t) => {
    const { gateway, backend, account, openBrowser, signInAtPortal, codeUrlFor } = await start(t, { driver })
    await setPassword(t, gateway, account.id)
    const browser = openBrowser()
    const page = `https://${appHost}/app/orders?a=1&b=%2F`

    const visit = await browser.visit(page)
    t.equal(visit.status, 303)
    const location = visit.headers.location ?? ''
    t.match(
      location,
      /^https:\/\/auth\.example\.com\/portal\/continue\?to=%2Fapp%2Forders%3Fa%3D1%26b%3D%252F&host=app\.example\.com&state=[\w-]{43}$/,
    )
    t.match(
      visit.headers['set-cookie'],
      /^__Host-gatehouse-return=\w{43}; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Lax$/m,
    )
    const key = browser.jarOf(appHost).get('__Host-gatehouse-return') ?? ''
    t.notMatch(location, key, 'the portal learns its digest only')

    const first = await browser.visit(location)
    t.equal(continuedTo(first), new URL(location).pathname + new URL(location).search, 'from another site')
    const asked = await browser.visit(location, 'same-origin')
    t.match(asked.headers.location, /^\/portal\/sign-in\?next=%2Fcontinue/)
    const signedIn = await signInAtPortal(browser, asked.headers.location)
    const codeUrl = await codeUrlFor(browser, `https://${portalHost}${signedIn.headers.location}`)
    t.match(codeUrl, /^https:\/\/app\.example\.com\/api\/v1\/accounts\/sign-in\?code=[\w-]+$/)
    t.notOk(browser.jarOf(portalHost).has('__Host-accessToken'), 'the portal has no use for it')

    const back = await browser.visit(codeUrl)
    t.match(back, { status: 200, headers: { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' } })
    t.match(
      back.headers['set-cookie'],
      /^__Host-accessToken=[\w.-]+; Max-Age=3600; Path=\/; HttpOnly; Secure; SameSite=Strict$/m,
    )
    t.notMatch(back.headers['set-cookie'], 'refreshToken', 'a session has one refresh token, for one place')
    t.notOk(browser.jarOf(appHost).has('__Host-gatehouse-return'), 'the key is gone')
    t.equal(continuedTo(back), '/app/orders?a=1&b=%2F')
    t.equal((await browser.visit(page, 'same-origin')).status, 200)
    t.match(backend.last(), { url: '/app/orders?a=1&b=%2F', headers: { 'x-user-id': account.id } })
    t.notOk(backend.last().headers.cookie)

    // On another host, of another site, the person is only led through the portal.
    const other = await browser.visit(`https://${otherHost}/reports`)
    const otherUrl = await codeUrlFor(browser, other.headers.location ?? '')
    t.match(otherUrl, `https://${otherHost}${returnPath}?code=`)
    t.equal(continuedTo(await browser.visit(otherUrl)), '/reports')
    t.equal((await browser.visit(`https://${otherHost}/reports`, 'same-origin')).status, 200)
    t.equal(backend.last().headers['x-user-id'], account.id)

    const issued = (await readMetrics(gateway.opsUrl)).value('gatehouse_tokens_issued_total', {
      grant: 'portal',
    })
    t.equal(issued, 2, 'one token for each host, none for that of the portal')

    // Who signs out at the portal is signed out at both.
    await gateway.operate(({ sessions }) => sessions.endAllPortal(account.id))
    for (const host of [appHost, otherHost]) {
      const isLedAway = async () =>
        (await browser.visit(`https://${host}/app/x`, 'same-origin')).status === 303
      await until(`${host} leads to the sign-in`, isLedAway, 2_000)
    }
    t.notMatch(gateway.logLines.join(''), codeUrl.slice(-40), 'no line of the log has a code')
    t.notMatch(gateway.logLines.join(''), key)
  })
}

t.test('a code is worth something to one browser, at one host, once, for a minute', async (t) => {
  const { gateway, account, time, openBrowser, signInAtPortal, codeUrlFor } = await start(t)
  await setPassword(t, gateway, account.id)
  const browser = openBrowser()
  await signInAtPortal(browser)
  const page = `https://${appHost}/app/x`
  const begin = async (who = browser) => (await who.visit(page)).headers.location ?? ''
  const hasCookie = (who = browser, host = appHost) => who.jarOf(host).has('__Host-accessToken')
  const nextCode = async () => codeUrlFor(browser, await begin())

  const stolen = await nextCode()
  const thief = openBrowser()
  t.equal(continuedTo(await thief.visit(stolen)), '/app/x', 'without a key')
  t.notOk(hasCookie(thief))
  await begin(thief)
  await thief.visit(stolen)
  t.notOk(hasCookie(thief), 'with a key of its own')
  t.ok(thief.jarOf(appHost).has('__Host-gatehouse-return'), 'which it keeps')
  const key = browser.jarOf(appHost).get('__Host-gatehouse-return') ?? ''
  await browser.visit(stolen)
  t.ok(hasCookie(), 'nobody else has used it up')

  browser.jarOf(appHost).delete('__Host-accessToken')
  browser.jarOf(appHost).set('__Host-gatehouse-return', key)
  t.equal(continuedTo(await browser.visit(stolen)), '/app/x', 'a second time')
  t.notOk(hasCookie())

  const forOther = new URL(await nextCode())
  forOther.host = otherHost
  browser.jarOf(otherHost).set('__Host-gatehouse-return', key)
  t.equal((await browser.visit(forOther.href)).status, 400, 'at another host')
  t.notOk(hasCookie(browser, otherHost))

  const late = await nextCode()
  time.shiftMs = 60_000
  t.equal(continuedTo(await browser.visit(late)), '/app/x', 'too late')
  t.notOk(hasCookie())
  time.shiftMs = 0

  const ended = await nextCode()
  await gateway.operate(({ sessions }) => sessions.endAllPortal(account.id))
  await browser.visit(ended)
  t.notOk(hasCookie(), 'of a session that has ended')
  t.match(
    gateway.logLines.join(''),
    /is not valid: another browser began the visit.*used before.*it has expired.*the session is over/s,
  )
})

t.test('nobody is signed in as somebody else, by a link, a form or a planted cookie', async (t) => {
  const { gateway, account, openBrowser, signInAtPortal, codeUrlFor } = await start(t)
  const attackers = await gateway.createAccount()
  await setPassword(t, gateway, account.id)
  await setPassword(t, gateway, attackers.account.id)
  const page = `https://${appHost}/app/x`
  const attacker = openBrowser()
  await signInAtPortal(attacker, '/portal/sign-in', attackers.account.email)
  const victim = openBrowser()
  await signInAtPortal(victim)
  const hasCookie = () => victim.jarOf(appHost).has('__Host-accessToken')

  // Login CSRF: a link with the attacker's code.
  const attackersVisit = (await attacker.visit(page)).headers.location ?? ''
  await victim.visit(page)
  await victim.visit(await codeUrlFor(attacker, attackersVisit))
  t.notOk(hasCookie(), "a link with the attacker's code")

  // Fixation: the victim's portal makes a code for the attacker's key, which the victim's browser cannot use.
  const forAttacker = await codeUrlFor(victim, attackersVisit)
  await victim.visit(forAttacker)
  t.notOk(hasCookie(), "a link with the attacker's digest")

  // Another host of the domain plants a cookie beside that of the browser: nobody can tell which is which.
  const key = attacker.jarOf(appHost).get('__Host-gatehouse-return') ?? ''
  const own = victim.jarOf(appHost).get('__Host-gatehouse-return') ?? ''
  victim.jarOf(appHost).set('__Host-gatehouse-return', `${own}; __Host-gatehouse-return=${key}`)
  await victim.visit(await codeUrlFor(attacker, (await attacker.visit(page)).headers.location ?? ''))
  t.notOk(hasCookie(), 'two keys')
  for (const name of ['gatehouse-return', '__host-gatehouse-return', '__Secure-gatehouse-return']) {
    victim.jarOf(appHost).clear()
    victim.jarOf(appHost).set(name, key)
    await victim.visit(await codeUrlFor(attacker, (await attacker.visit(page)).headers.location ?? ''))
    t.notOk(hasCookie(), `a planted ${name}: browsers let only this host set __Host- cookies`)
  }

  // No page, image or frame signs in by the way.
  const codeUrl = new URL(await codeUrlFor(victim, (await victim.visit(page)).headers.location ?? ''))
  const ask = (line: string, headers: readonly string[]) =>
    rawRequest(t, gateway.url, [`${line} HTTP/1.1`, `Host: ${appHost}`, ...headers], '')
  const ownKey = victim.jarOf(appHost).get('__Host-gatehouse-return')
  const cookie = `Cookie: __Host-gatehouse-return=${ownKey}`
  const target = codeUrl.pathname + codeUrl.search
  for (const [line, headers, status] of [
    [`GET ${target}`, [cookie, 'Sec-Fetch-Mode: no-cors', 'Sec-Fetch-Dest: image'], 400],
    [`GET ${target}`, [cookie, 'Sec-Fetch-Mode: navigate', 'Sec-Fetch-Dest: iframe'], 400],
    [`GET ${target}`, [cookie, 'Sec-Fetch-Mode: cors', 'Sec-Fetch-Dest: empty'], 400],
    [`HEAD ${target}`, [cookie, ...pageVisit()], 405],
    [`POST ${target}`, [cookie, ...pageVisit(), 'Content-Length: 0'], 405],
    [`GET ${target}&code=x`, [cookie, ...pageVisit()], 400],
    [`GET ${target.slice(0, -2)}`, [cookie, ...pageVisit()], 400],
    [`GET ${returnPath}`, [cookie, ...pageVisit()], 400],
    [`GET ${returnPath}?code=${'x'.repeat(5_000)}`, [cookie, ...pageVisit()], 400],
  ] as const) {
    const response = await ask(line, headers)
    t.equal(response.status, status, `${line.slice(0, 30)} ${headers[1] ?? ''}`)
    t.notOk(response.headers['set-cookie'])
  }
  await victim.visit(codeUrl.href)
  t.ok(hasCookie(), 'and the code still counts')
})

t.test('the portal leads back to pages of routes with a sign-in, on hosts that routes name', async (t) => {
  const { gateway, account, backend, openBrowser, signInAtPortal } = await start(t)
  await setPassword(t, gateway, account.id)
  const browser = openBrowser()
  await signInAtPortal(browser)
  const state = 'x'.repeat(43)
  const ask = async (query: Readonly<Record<string, string>>) => {
    const url = `https://${portalHost}/portal/continue?${new URLSearchParams(query)}`
    return browser.visit(url, 'same-origin')
  }
  const right = { to: '/app', host: appHost, state }
  t.match(continuedTo(await ask(right)), `https://${appHost}${returnPath}?code=`)
  for (const change of [
    { host: 'evil.example' },
    { host: `${appHost}.evil.example` },
    { host: `${appHost}@evil.example` },
    { host: `${appHost}:8443` },
    { host: 'APP.example.com' },
    { host: portalHost },
    { host: 'plain.example.com' },
    { host: 'sub.app.example.com' },
    { host: '127.0.0.1' },
    { host: '' },
    { host: '__proto__' },
    { to: '' },
    { to: '/public' },
    { to: '//evil.example' },
    { to: '/\\evil.example' },
    { to: 'https://evil.example/app' },
    { to: '/app/../public' },
    { to: '/app/%2e%2e/public' },
    { to: '/app\r\nSet-Cookie: a=b' },
    { to: returnPath },
    { to: '/api/v1/accounts/usage' },
    { state: '' },
    { state: 'x'.repeat(42) },
    { state: 'x'.repeat(44) },
    { state: `${'x'.repeat(42)}"` },
  ]) {
    const response = await ask({ ...right, ...change })
    t.match(response, { status: 303, headers: { location: '/portal/integration' } }, JSON.stringify(change))
  }
  const strange = await browser.visit('https://strange.example.com/app')
  t.equal(strange.status, 401, 'a visit of a host that no route names is not led anywhere')

  // No backend gets the key, or sets one.
  const visit = [`Host: ${appHost}`, 'Cookie: __Host-gatehouse-return=x; gatehouse-return=y; a=1']
  const answered = await rawRequest(t, gateway.url, [
    'GET /public HTTP/1.1',
    ...visit,
    'X-Set: __Host-gatehouse-return=evil|gatehouse-return=evil|b=2',
  ])
  t.equal(backend.last().headers.cookie, 'a=1')
  t.equal(answered.headers['set-cookie'], 'b=2')

  const plain = await start(t, { config: { portal: {} } })
  t.equal(
    (await rawRequest(t, plain.gateway.url, [`GET ${returnPath} HTTP/1.1`, `Host: ${appHost}`])).status,
    404,
    'where the portal is on every host, there is no such path',
  )
})
