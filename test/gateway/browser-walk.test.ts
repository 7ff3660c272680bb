import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { tempFolder } from '../cli/run.ts'
import { setUp } from '../portal/support/portal.ts'
import { startChromium } from '../setup/chromium.ts'
import { startGateway } from '../setup/gateway.ts'
import { freePort, portOf, until } from '../setup/net.ts'
import { clientId, clientSecret, startOpenIdProvider } from '../setup/openid-provider.ts'
import { ask } from './support/ask.ts'
import { givePassword, password } from './support/cookie-jar.ts'

/** The page of docs/browsers.md, as it stands there. */
const example = /```html\n([\s\S]*?)```/.exec(readFileSync('docs/browsers.md', 'utf8'))?.[1] ?? ''
const image = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')

/** An ordinary web application: it knows of its callers what the gateway tells it. */
async function startApplication(t: Test): Promise<string> {
  // The cast is sound: these are the documented forms of ws 8.
  const { WebSocketServer } = createRequire(import.meta.url)('ws') as {
    WebSocketServer: new (
      options: object,
    ) => {
      on(
        event: 'connection',
        listener: (socket: { send(text: string): void }, request: Request) => void,
      ): void
    }
  }
  interface Request {
    readonly headers: Readonly<Record<string, string | string[] | undefined>>
  }
  const who = ({ headers }: Request) =>
    `${headers['x-user-id']}${headers.cookie ? ` with ${headers.cookie}` : ''}`
  const server = createServer((request, response) => {
    switch (request.url) {
      case '/app/me':
        response.end(who(request))
        return
      case '/app/logo':
        response.writeHead(200, { 'Content-Type': 'image/gif' }).end(image)
        return
      case '/app/report':
        response
          .writeHead(200, { 'Content-Disposition': 'attachment; filename="report.txt"' })
          .end(who(request))
        return
      case '/app/events':
        response.writeHead(200, { 'Content-Type': 'text/event-stream' })
        response.write(`data: ${who(request)}\n\n`)
        return
      default:
        response.writeHead(200, { 'Content-Type': 'text/html' })
        response.end(`${example}<a href="/app/report" download>Report</a>`)
    }
  })
  new WebSocketServer({ server }).on('connection', (socket, request) => socket.send(who(request)))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${portOf(server)}`
}

/** Opens a WebSocket and an event stream, and notes how and when each ends (`over` in the page). */
async function openConnections(page: Page): Promise<void> {
  await page.evaluate(`void (globalThis.over = new Promise((resolve) => {
    const seen = new EventSource('/app/events')
    const socket = new WebSocket(location.origin.replace('http', 'ws') + '/app/socket')
    let open = 2
    const ready = () => --open === 0 && (document.title = 'ready')
    seen.onopen = ready
    socket.onopen = ready
    Promise.all([
      new Promise((done) => (socket.onclose = ({ code }) => done([code, Date.now()]))),
      new Promise((done) => (seen.onerror = () => done(['event stream', Date.now()]))),
    ]).then(resolve)
  }))`)
  await page.waitForFunction("document.title === 'ready'")
}

/** Both have ended because the session did, and the page has gone to the sign-in. */
async function assertClosed(t: Test, page: Page, revokedAt: number): Promise<void> {
  const closed = (await page.evaluate('over')) as readonly (readonly [how: unknown, at: number])[]
  t.strictSame(
    closed.map(([how]) => how),
    [4001, 'event stream'],
  )
  const delays = closed.map(([, at]) => at - revokedAt)
  // How soon is asserted where nothing runs beside it: test/instances/revocation.test.ts.
  t.comment(`closed after ${delays} ms`)
  await page.waitForURL(/\/portal\/sign-in/)
  t.pass('the page itself goes to the sign-in')
}

/**
 * Unlike `waitForURL`, this does not fail if a busy browser aborts a navigation that another one replaces.
 * @param url the start of it: a fragment may follow
 */
async function arriveAt(page: Page, url: string): Promise<void> {
  await until(`the page is ${url}`, () => page.url().startsWith(url), 60_000)
  await page.waitForLoadState()
}

const routes = [
  {
    name: 'app',
    path: '/app',
    upstream: 'backend',
    auth: 'any',
    websocket: true,
    browser: { cookie: true, signIn: true },
  },
]

t.test(
  'a person visits a page, signs in, and is the same for every request of it, until an Admin ends that',
  async (t) => {
    const gateway = await startGateway(t, {
      backend: await startApplication(t),
      config: {
        accessCookie: { enabled: true },
        routes,
      },
    })
    const { account } = await gateway.createAccount()
    await givePassword(t, gateway, account.id)
    const browser = await startChromium(t)
    const context = await browser.newContext()
    const page = await context.newPage()
    page.setDefaultTimeout(60_000)

    await page.goto(`${gateway.url}/app/orders?from=mail#top`)
    t.match(page.url(), /\/portal\/sign-in/)
    await page.getByLabel('E-mail').fill(account.email)
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await arriveAt(page, `${gateway.url}/app/orders?from=mail`)

    const lines = () => page.locator('li').allTextContents()
    const expected = [`me: ${account.id}`, `event: ${account.id}`, `socket: ${account.id}`]
    await until('all three have told who it is', async () => (await lines()).length >= 3, 30_000)
    t.strictSame((await lines()).toSorted(), expected.toSorted(), 'and no backend got a cookie')
    t.equal(await page.evaluate("document.querySelector('img').naturalWidth"), 1)
    const downloading = page.waitForEvent('download')
    await page.getByText('Report').click()
    t.equal(readFileSync(await (await downloading).path(), 'utf8'), account.id)
    t.equal(await page.evaluate('document.cookie'), '', 'no script can read it')

    // The cookie expires while the portal session lives: the next visit renews it silently.
    await context.clearCookies({ name: 'accessToken' })
    await page.reload()
    t.match(page.url(), /\/app\/orders\?from=mail/)
    await until('the page works again', async () => (await lines()).length >= 3, 30_000)
    t.strictSame((await lines()).toSorted(), expected.toSorted())
    // A link on a page of another site, whose visits carry no cookie of the portal.
    const other = await context.newPage()
    await other.goto(`data:text/html,<a href="${gateway.url}/app/me">me</a>`)
    await other.getByText('me').click()
    await other.waitForURL('**/app/me')
    t.equal(await other.textContent('body'), account.id)

    await openConnections(page)
    const revokedAt = await gateway.operate(async ({ sessions }) => {
      const [session] = await sessions.listPortal(account.id)
      const before = Date.now()
      t.ok(await sessions.endPortal(account.id, session?.id ?? ''))
      return before
    })
    await assertClosed(t, page, revokedAt)
  },
)

const places = {
  'on the host of the page': { page: '127.0.0.1', portal: undefined },
  'on a host of its own of the same site': {
    page: 'app.example.localhost',
    portal: 'auth.example.localhost',
  },
  'on a host of its own of another site': { page: 'app.localhost', portal: 'auth.localhost' },
} as const

for (const [where, hosts] of Object.entries(places)) {
  t.test(`a visit signs in at a provider by a portal ${where}, until an Admin ends that`, async (t) => {
    // Another site than the gateway, as a provider is: browsers then keep `SameSite=Strict` cookies back.
    const provider = await startOpenIdProvider(t, 'localhost')
    const secretFile = join(tempFolder(t), 'client-secret')
    writeFileSync(secretFile, clientSecret)
    const oidc = { issuer: provider.url, clientId, clientSecret: { file: secretFile }, label: 'ID' }
    // Known before, as the provider leads back to it.
    const port = await freePort()
    const url = `http://${hosts.page}:${port}`
    const gateway = await startGateway(t, {
      backend: await startApplication(t),
      config: {
        publicUrl: url,
        listen: { port },
        portal: { oidc, ...(hosts.portal !== undefined && { host: hosts.portal }) },
        accessCookie: { enabled: true },
        routes,
      },
    })
    const { account } = await gateway.createAccount()
    const admin = await gateway.createAccount({ role: 'Admin' })
    provider.people.set('ada', { email: account.email, email_verified: true })
    const browser = await startChromium(t)
    const context = await browser.newContext()
    const page = await context.newPage()
    page.setDefaultTimeout(60_000)
    const assertKnown = async () => {
      const lines = () => page.locator('li').allTextContents()
      const expected = [`me: ${account.id}`, `event: ${account.id}`, `socket: ${account.id}`]
      await until('all three have told who it is', async () => (await lines()).length >= 3, 30_000)
      t.strictSame((await lines()).toSorted(), expected.toSorted(), 'the same person, and no cookie')
    }

    await page.goto(`${url}/app/orders?from=mail#top`)
    t.equal(new URL(page.url()).hostname, hosts.portal ?? hosts.page, 'asked by the portal')
    await page.getByRole('link', { name: 'Sign in with ID' }).click()
    await page.getByLabel('User').fill('ada')
    await page.getByRole('button', { name: 'Continue' }).click()
    await arriveAt(page, `${url}/app/orders?from=mail`)
    await assertKnown()

    // The cookie expires while the portal session lives: the next visit renews it without a question.
    await context.clearCookies({ name: 'accessToken' })
    await page.goto(`${url}/app/orders?from=again`)
    await arriveAt(page, `${url}/app/orders?from=again`)
    await assertKnown()

    await openConnections(page)
    const revokedAt = Date.now()
    const path = `/api/v1/admin/accounts/${account.id}/sessions`
    const revoked = await ask(t, gateway.url, `DELETE ${path}`, [`SecretKey: ${admin.secretKey}`])
    t.equal(revoked.status, 204)
    await assertClosed(t, page, revokedAt)
  })
}

t.test('a password signs in by a portal on a host of its own', async (t) => {
  const port = await freePort()
  const url = `http://app.localhost:${port}`
  const gateway = await startGateway(t, {
    backend: await startApplication(t),
    config: {
      publicUrl: url,
      listen: { port },
      portal: { host: 'auth.localhost' },
      accessCookie: { enabled: true },
      routes,
    },
  })
  const { account } = await gateway.createAccount()
  const { url: link } = await gateway.operate(({ setupLinks }) => setupLinks.create(account.id))
  const context = await (await startChromium(t)).newContext()
  const page = await context.newPage()
  page.setDefaultTimeout(60_000)
  await setUp(page, link, password)
  await context.clearCookies()
  await page.goto(`${url}/app/me`)
  await page.getByLabel('E-mail').fill(account.email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await arriveAt(page, `${url}/app/me`)
  t.equal(await page.textContent('body'), account.id)
  t.strictSame(
    (await context.cookies(url)).map(({ name }) => name).filter((name) => name !== 'gatehouse-visit'),
    ['accessToken'],
  )
})
