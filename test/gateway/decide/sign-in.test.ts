import t, { type Test } from 'tap'
import { until } from '../../setup/net.ts'
import { rawRequest } from '../../setup/raw-client.ts'
import { csrfIn, password } from '../support/cookie-jar.ts'
import { continuedTo, type HostBrowser, openHostBrowser, setPassword } from '../support/host-browser.ts'
import { apache } from './proxies/apache.ts'
import { caddy } from './proxies/caddy.ts'
import { haproxy } from './proxies/haproxy.ts'
import { nginx } from './proxies/nginx.ts'
import { type Guarded, startGuarded } from './proxies/suite.ts'

const appHost = 'app.example.com'
const portalHost = 'auth.example.com'
const page = `https://${appHost}/app/orders?a=1&b=%2F`
const cookieName = '__Host-accessToken'

const config = {
  publicUrl: `https://${appHost}`,
  accessCookie: { enabled: true, name: cookieName },
  routes: [{ name: 'app', path: '/app', auth: 'any', browser: { cookie: true, signIn: true } }],
}

/** Somebody with a password, whose browser knows only the proxy. */
async function startVisitor(t: Test, { gateway, proxy }: Guarded) {
  const { account } = await gateway.createAccount()
  await setPassword(t, gateway, account.id)
  return { account, browser: openHostBrowser(t, proxy.url) }
}

async function signInOn(browser: HostBrowser, origin: string, location: string, email: string) {
  const asked = await browser.visit(location, 'same-origin')
  const form = await browser.visit(`${origin}${asked.headers.location}`, 'same-origin')
  const next = /name="next" value="([^"]*)"/.exec(form.body)?.[1]?.replaceAll('&amp;', '&') ?? ''
  const fields = { csrf: csrfIn(form), next, email, password }
  return browser.visit(`${origin}/portal/sign-in`, 'same-origin', fields)
}

for (const kind of [nginx, caddy, haproxy, apache]) {
  t.test(`${kind.name} leads a page visit to the portal's own host, and back`, async (t) => {
    const guarded = await startGuarded(t, kind, { ...config, portal: { host: portalHost } })
    const { backend, gateway } = guarded
    const { account, browser } = await startVisitor(t, guarded)
    const portal = `https://${portalHost}`

    const visit = await browser.visit(page)
    t.match(visit, { status: 303, headers: { 'cache-control': 'no-store' } })
    const location = visit.headers.location ?? ''
    t.match(
      location,
      `${portal}/portal/continue?to=%2Fapp%2Forders%3Fa%3D1%26b%3D%252F&host=${appHost}&state=`,
    )
    t.ok(browser.jarOf(appHost).has('__Host-gatehouse-return'), 'the key has reached the browser')
    // nginx can pass on only one of them.
    t.equal(browser.jarOf(appHost).has('gatehouse-visit'), kind !== nginx, 'visits are counted')

    const signedIn = await signInOn(browser, portal, location, account.email)
    const handOver = continuedTo(await browser.visit(`${portal}${signedIn.headers.location}`, 'same-origin'))
    t.match(handOver, `https://${appHost}/api/v1/accounts/sign-in?code=`)
    t.equal(continuedTo(await browser.visit(handOver)), '/app/orders?a=1&b=%2F')
    await assertSignedIn(t, guarded, browser, account.id)

    // Another program ends the session, so it is in force shortly after.
    await gateway.operate(({ sessions }) => sessions.endAll(account.id))
    const isLedAway = async () => (await browser.visit(page, 'same-origin')).status === 303
    await until('the session has ended', isLedAway, 2_000)
    const seen = backend.seen.length
    t.equal((await browser.visit(page, 'same-origin')).status, 303)
    t.equal(backend.seen.length, seen)
  })

  t.test(`${kind.name} leads a page visit to the portal of the same host, and back`, async (t) => {
    const guarded = await startGuarded(t, kind, config)
    const { account, browser } = await startVisitor(t, guarded)
    const app = `https://${appHost}`
    const visit = await browser.visit(page)
    t.equal(visit.status, 303)
    t.ok(browser.jarOf(appHost).has('gatehouse-visit'), 'visits are counted')
    // On the proxy's own scheme and port the browser might reach nothing: TLS or a mapping of ports may be in between.
    const location = visit.headers.location ?? ''
    t.match(location, /^\/portal\//)
    const signedIn = await signInOn(browser, app, `${app}${location}`, account.email)
    const end = await browser.visit(`${app}${signedIn.headers.location}`, 'same-origin')
    t.equal(continuedTo(end) || end.headers.location, '/app/orders?a=1&b=%2F')
    await assertSignedIn(t, guarded, browser, account.id)
  })

  t.test(`${kind.name} answers 401 to what is no page visit`, async (t) => {
    const { backend, proxy } = await startGuarded(t, kind, config)
    const refused = await rawRequest(t, proxy.url, ['GET /app/x HTTP/1.1', `Host: ${appHost}`])
    t.equal(refused.status, 401)
    t.match(refused.headers['www-authenticate'], 'realm="gatehouse"')
    t.notOk(refused.headers.location)
    t.notOk(refused.headers['set-cookie'])
    t.equal(backend.seen.length, 0)
  })
}

/** The backend learns who it is, and gets its own cookies but no token, wherever that stands among them. */
async function assertSignedIn(t: Test, { backend }: Guarded, browser: HostBrowser, accountId: string) {
  const jar = browser.jarOf(appHost)
  const token = jar.get(cookieName) ?? ''
  const orders = [
    [cookieName],
    [cookieName, 'theme'],
    ['theme', cookieName, 'lang'],
    ['theme', 'lang', cookieName],
  ]
  for (const names of orders) {
    jar.clear()
    for (const name of names) jar.set(name, name === cookieName ? token : 'own')
    t.equal((await browser.visit(page, 'same-origin')).status, 200)
    const { url, headers } = backend.last()
    t.equal(url, '/app/orders?a=1&b=%2F')
    t.equal(headers['x-user-id'], accountId)
    const own = (headers.cookie ?? '').split('; ').filter((cookie) => cookie.endsWith('=own'))
    t.strictSame(
      own,
      names.filter((name) => name !== cookieName).map((name) => `${name}=own`),
    )
    t.notMatch(headers.cookie, token)
  }
}
