import t, { type Test } from 'tap'
import { foldHeaderName } from '#platform/text.ts'
import { ask } from '../gateway/support/ask.ts'
import { openWebSocket, startWebSocketBackend } from '../gateway/support/web-socket.ts'
import { startBackend } from '../setup/backend.ts'
import { isApp, notInApp, startGateway } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { connectRaw } from '../setup/raw-client.ts'

const noTrailers = { skip: notInApp('http-proxy forwards no trailers') }

const headers = {
  set: { Authorization: 'Bearer backend', 'X-Tenant-Key': 'ours' },
  remove: ['X-Debug-Mode'],
}

/** Of a head or of trailers: the fields that a backend may take for one that is set or removed. */
function concerned(rawHeaders: readonly string[]): string[] {
  const names = new Set(['Authorization', 'X-Tenant-Key', 'X-Debug-Mode'].map(foldHeaderName))
  return rawHeaders.flatMap((name, index) =>
    index % 2 === 0 && names.has(foldHeaderName(name)) ? [`${name}: ${rawHeaders[index + 1]}`] : [],
  )
}

const ours = ['Authorization: Bearer backend', 'X-Tenant-Key: ours']

const forged = [
  'Authorization',
  'AUTHORIZATION',
  'authorization-',
  'X-Tenant-Key',
  'x-tenant-key',
  'X_Tenant_Key',
  'X.TENANT.KEY',
  'XTenantKey',
  'X-Debug-Mode',
  'x_debug_mode',
  'X-Debug_Mode',
].map((name) => `${name}: theirs`)

async function start(t: Test, url: string) {
  const route = { upstream: 'backend', websocket: true, ...(!isApp() && { trailers: 'pass' }) }
  return startGateway(t, {
    config: {
      upstreams: { backend: { targets: [{ url }], headers } },
      routes: [
        { ...route, name: 'public', path: '/public', auth: 'none' },
        { ...route, name: 'key', path: '/key', auth: 'secretKey' },
        { ...route, name: 'passing', path: '/passing', auth: 'secretKey', forwardCredentials: true },
      ],
    },
  })
}

t.test('no spelling of a header that the config sets or removes reaches the backend', async (t) => {
  const backend = await startBackend(t)
  const gateway = await start(t, backend.url)
  const { secretKey } = await gateway.createAccount()
  for (const path of ['/public', '/key', '/passing']) {
    const key = path === '/public' ? [] : [`SecretKey: ${secretKey}`]
    for (const method of ['GET', 'POST', 'OPTIONS', 'HEAD']) {
      // Of three requests with the same head, the last is written from cached lines.
      for (const line of [...forged, ...Array<string>(3).fill(forged.join('\r\n'))]) {
        // On a route with a key a second credential is refused as such.
        const lines = path === '/public' ? line : line.replaceAll(/^authorization: .*\r?\n?/gim, '')
        const response = await ask(t, gateway.url, `${method} ${path}`, [...key, lines].filter(Boolean))
        t.equal(response.status, 200)
        t.strictSame(concerned(backend.last().rawHeaders), ours, `${method} ${path} ${line}`)
      }
    }
  }
})

t.test('a name in Connection removes no header that the config sets', async (t) => {
  const backend = await startBackend(t)
  const gateway = await start(t, backend.url)
  for (const option of ['close, X-Tenant-Key, Authorization', 'x-tenant-key', 'AUTHORIZATION']) {
    const response = await ask(t, gateway.url, 'GET /public', [`Connection: ${option}`, ...forged])
    t.equal(response.status, 200)
    t.strictSame(concerned(backend.last().rawHeaders), ours)
  }
})

t.test('trailers bring no header that the config sets or removes', noTrailers, async (t) => {
  const backend = await startBackend(t)
  const gateway = await start(t, backend.url)
  const client = await connectRaw(t, gateway.url)
  const head = 'POST /public HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n'
  client.send(`${head}2\r\nok\r\n0\r\n${forged.join('\r\n')}\r\nX-Sum: a\r\n\r\n`)
  t.equal((await client.response()).status, 200)
  const { rawHeaders, trailers, body } = backend.last()
  t.equal(body, 'ok')
  t.strictSame({ ...trailers }, { 'x-sum': 'a' })
  t.strictSame(concerned(rawHeaders), ours)
})

t.test('an upgrade brings no header that the config sets or removes', async (t) => {
  const backend = await startWebSocketBackend(t)
  const gateway = await start(t, backend.url)
  const { secretKey } = await gateway.createAccount()
  const theirs = { X_Tenant_Key: 'theirs', 'X-Tenant-Key': 'theirs', 'X-Debug-Mode': 'theirs' }
  const publicOnes = { ...theirs, Authorization: 'Basic eDp5' }
  await openWebSocket(t, `${gateway.url}/public`, { headers: publicOnes })
  // An app accepts a WebSocket before its backend has.
  await until('the backend has it', () => backend.upgrades.length === 1)
  t.strictSame(concerned(backend.upgrades.at(-1)?.rawHeaders ?? []), ours)
  await openWebSocket(t, `${gateway.url}/key`, { headers: { ...theirs, SecretKey: secretKey } })
  await until('the backend has it', () => backend.upgrades.length === 2)
  t.strictSame(concerned(backend.upgrades.at(-1)?.rawHeaders ?? []), ours)
})
