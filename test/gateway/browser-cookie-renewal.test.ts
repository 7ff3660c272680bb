import { once } from 'node:events'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import t, { type Test } from 'tap'
import { startChromium } from '../setup/chromium.ts'
import { startGateway } from '../setup/gateway.ts'
import { portOf, until } from '../setup/net.ts'
import { givePassword, password } from './support/cookie-jar.ts'

const image = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')
const lifetimeMs = 3_000

/** A page that asks, loads an image, and keeps a WebSocket; it notes what came in `seen`. */
const html = `<!doctype html><title>Tab</title><script type="module">
  globalThis.seen = { statuses: [], images: [], messages: 0, closes: 0 }
  globalThis.isIdle = false
  const socket = new WebSocket(location.origin.replace('http', 'ws') + '/app/socket')
  socket.onmessage = () => seen.messages++
  socket.onclose = () => seen.closes++
  setInterval(async () => {
    if (isIdle) return
    seen.statuses.push((await fetch('/app/me')).status)
    const picture = new Image()
    picture.onload = () => seen.images.push('loaded')
    picture.onerror = () => seen.images.push('failed')
    picture.src = '/app/logo?' + Date.now()
    socket.send('ping')
  }, 500)
</script>`

async function startApplication(t: Test): Promise<string> {
  // The cast is sound: these are the documented forms of ws 8.
  const { WebSocketServer } = createRequire(import.meta.url)('ws') as {
    WebSocketServer: new (
      options: object,
    ) => {
      on(event: 'connection', listener: (socket: Socket) => void): void
    }
  }
  interface Socket {
    on(event: 'message', listener: () => void): void
    send(text: string): void
  }
  const server = createServer((request, response) => {
    if (request.url?.startsWith('/app/logo'))
      response.writeHead(200, { 'Content-Type': 'image/gif' }).end(image)
    else if (request.url === '/app/me') response.end('me')
    else response.writeHead(200, { 'Content-Type': 'text/html' }).end(html)
  })
  new WebSocketServer({ server }).on('connection', (socket) =>
    socket.on('message', () => socket.send('pong')),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${portOf(server)}`
}

t.test('a tab works on for longer than its cookie lives, without a reload', async (t) => {
  const gateway = await startGateway(t, {
    backend: await startApplication(t),
    config: {
      accessCookie: { enabled: true, lifetime: `${lifetimeMs}ms` },
      tokens: { clockTolerance: '0s' },
      routes: [
        {
          name: 'app',
          path: '/app',
          upstream: 'backend',
          auth: 'any',
          websocket: true,
          browser: { cookie: true, signIn: true },
        },
      ],
    },
  })
  const { account } = await gateway.createAccount()
  await givePassword(t, gateway, account.id)
  const context = await (await startChromium(t)).newContext()
  const page = await context.newPage()
  page.setDefaultTimeout(60_000)
  await page.goto(`${gateway.url}/app`)
  await page.getByLabel('E-mail').fill(account.email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.waitForURL('**/app')

  const seen = async () =>
    (await page.evaluate('seen')) as {
      statuses: readonly number[]
      images: readonly string[]
      messages: number
      closes: number
    }
  const cookieOf = async () => (await context.cookies()).find(({ name }) => name === 'accessToken')?.value
  const first = await cookieOf()
  const startedAt = Date.now()
  let visits = 0
  page.on('framenavigated', () => visits++)
  await until('three lifetimes have passed', () => Date.now() > startedAt + 3 * lifetimeMs, 30_000)
  const { statuses, images, messages, closes } = await seen()
  t.ok(statuses.length > 5, `${statuses.length} requests`)
  t.strictSame(new Set(statuses), new Set([200]))
  t.strictSame(new Set(images), new Set(['loaded']))
  t.ok(messages > 5)
  t.equal(closes, 0, 'the WebSocket is the same')
  t.equal(visits, 0, 'the page was never left')
  t.not(await cookieOf(), first)

  await page.evaluate('void (isIdle = true)')
  await until('the cookie of an idle tab expires', async () => (await cookieOf()) === undefined, 30_000)
  t.equal((await seen()).closes, 0, 'which closes no WebSocket')
  await page.reload()
  t.match(page.url(), /\/app$/, 'a visit gets a new one without a question')
  await until('it works again', async () => (await seen()).statuses.includes(200), 30_000)

  await gateway.operate(async ({ sessions }) => {
    for (const session of await sessions.listPortal(account.id))
      await sessions.endPortal(account.id, session.id)
  })
  await until('a signed-out tab is refused', async () => (await seen()).statuses.includes(401), 30_000)
  await until('its WebSocket is closed', async () => (await seen()).closes === 1, 30_000)
  t.equal((await seen()).statuses.at(-1), 401, 'and not renewed')
})
