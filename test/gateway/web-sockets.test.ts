import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t, { type Test } from 'tap'
import { type StoreDriver, startGateway, storeDrivers } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { readMetrics } from './support/metrics.ts'
import { openWebSocket, record, startWebSocketBackend } from './support/web-socket.ts'

const identity = { headers: { session: 'X-User-Session', scheme: 'X-User-Scheme' } }

async function start(t: Test, driver: StoreDriver = 'sqlite') {
  const backend = await startWebSocketBackend(t)
  const route = { upstream: 'backend', websocket: true }
  const routes = [
    { ...route, name: 'ws', path: '/ws', auth: 'any' },
    { ...route, name: 'open', path: '/open', auth: 'none' },
  ]
  const gateway = await startGateway(t, { backend: backend.url, driver, config: { routes, identity } })
  return { backend, gateway }
}

for (const driver of storeDrivers) {
  t.test(`an upgrade request carries the identity headers, by either scheme, on ${driver}`, async (t) => {
    const { backend, gateway } = await start(t, driver)
    const created = await gateway.createAccount()
    const { JwtToken } = await gateway.tokens(created)
    const mine = { 'x-user-id': created.account.id, 'x-user-role': 'User', cookie: 'a=1' }
    for (const [credential, scheme] of [
      [{ SecretKey: created.secretKey }, 'secretKey'],
      [{ Authorization: `Bearer ${JwtToken}` }, 'bearer'],
    ] as const) {
      const headers = {
        ...credential,
        'X-User-Id': 'root',
        X_User_Role: 'Admin',
        Cookie: 'refreshToken=x; a=1',
      }
      const socket = await openWebSocket(t, `${gateway.url}/ws/x?y=1`, { headers })
      const upgrade = backend.upgrades.at(-1)
      t.equal(upgrade?.url, '/ws/x?y=1')
      t.match(upgrade?.headers, { ...mine, 'x-user-scheme': scheme, 'x-forwarded-for': '127.0.0.1' })
      for (const name of ['secretkey', 'authorization', 'x_user_role'])
        t.notOk(name in (upgrade?.headers ?? {}))
      t.equal('x-user-session' in (upgrade?.headers ?? {}), scheme === 'bearer')
      socket.close()
    }
  })
}

t.test('WebSocket messages pass unchanged in both directions', async (t) => {
  const { backend, gateway } = await start(t)
  const socket = await openWebSocket(t, `${gateway.url}/open`)
  const { messages } = record(socket)
  const sent = [
    'text',
    '',
    'žluťoučký 🦊',
    'x'.repeat(70_000),
    Buffer.from([0, 255, 1]),
    Buffer.alloc(0),
    Buffer.alloc(3_000_000, 7),
  ]
  for (const data of sent) socket.send(data)
  await until('all came back', () => messages.length === sent.length)
  for (const [index, data] of sent.entries()) {
    t.equal(messages[index]?.isBinary, typeof data !== 'string')
    t.ok(messages[index]?.data.equals(Buffer.from(data)))
  }
  backend.sockets.at(-1)?.send('unasked')
  await until('what the backend says unasked has come', () => String(messages.at(-1)?.data) === 'unasked')
})

t.test('pings and pongs pass through, and the gateway answers none itself', async (t) => {
  const { backend, gateway } = await start(t)
  const mine = await openWebSocket(t, `${gateway.url}/open`)
  const theirs = backend.sockets.at(-1)
  const [toldMe, toldThem] = [record(mine), record(theirs)]
  mine.ping('to you')
  theirs?.ping('to me')
  await until('both are answered', () => toldMe.pongs.length > 0 && toldThem.pongs.length > 0)
  t.match(toldMe, { pings: ['to me'], pongs: ['to you'] })
  t.match(toldThem, { pings: ['to you'], pongs: ['to me'] })
})

t.test('WebSocket close codes and reasons pass in both directions', async (t) => {
  const { backend, gateway } = await start(t)
  for (const [code, reason] of [
    [1000, ''],
    [1000, 'done'],
    [4321, 'žádný'],
    [1011, 'x'.repeat(123)],
  ] as const) {
    const received = record(await openWebSocket(t, `${gateway.url}/open`))
    backend.sockets.at(-1)?.close(code, reason)
    await until('the client receives the Close', () => received.closes.length > 0)
    t.strictSame(received.closes, [{ code, reason }])
    const mine = await openWebSocket(t, `${gateway.url}/open`)
    const { closes } = record(backend.sockets.at(-1))
    mine.close(code, reason)
    await until('the backend receives the Close', () => closes.length > 0)
    t.strictSame(closes, [{ code, reason }])
  }
})

t.test('a WebSocket peer that vanishes closes the other side', async (t) => {
  const { backend, gateway } = await start(t)
  const received = record(await openWebSocket(t, `${gateway.url}/open`))
  backend.sockets.at(-1)?.terminate()
  await until('the client receives the Close', () => received.closes[0]?.code === 1006)
  const mine = await openWebSocket(t, `${gateway.url}/open`)
  const { closes } = record(backend.sockets.at(-1))
  mine.terminate()
  await until('the backend receives the Close', () => closes[0]?.code === 1006)
})

t.test('subprotocols and extensions are negotiated by client and backend alone', async (t) => {
  const { backend, gateway } = await start(t)
  const protocols = ['chat', 'superchat']
  const socket = await openWebSocket(t, `${gateway.url}/open`, { protocols, perMessageDeflate: true })
  t.equal(socket.protocol, 'chat')
  t.match(backend.upgrades.at(-1)?.headers, {
    'sec-websocket-protocol': 'chat,superchat',
    'sec-websocket-extensions': /^permessage-deflate/,
  })
  const { messages } = record(socket)
  socket.send('squeeze '.repeat(1_000))
  await until('it came back', () => messages.length > 0)
  t.equal(String(messages[0]?.data), 'squeeze '.repeat(1_000))
  const plain = await openWebSocket(t, `${gateway.url}/open`)
  t.equal(plain.protocol, '')
})

t.test('open WebSockets are counted, and each is logged when it closes', async (t) => {
  const { gateway } = await start(t)
  const open = async () => {
    const text = await (await fetch(`${gateway.opsUrl}/metrics`)).text()
    return Number(/^gatehouse_websockets_open (\d+)$/m.exec(text)?.[1])
  }
  const path = '/open/a-path-that-is-a-slice-of-the-head'
  const sockets = [
    await openWebSocket(t, `${gateway.url}${path}?secret=1`),
    await openWebSocket(t, `${gateway.url}${path}?secret=2`),
  ]
  t.equal(await open(), 2)
  for (const socket of sockets) socket.close()
  await until('both are counted out', async () => (await open()) === 0)
  const lines = await until('both are logged', () => {
    const found = gateway.logLines.filter((line) => line.includes('"status":101'))
    return found.length === 2 ? found.map((line): object => JSON.parse(line)) : undefined
  })
  const told = {
    client: '127.0.0.1',
    method: 'GET',
    path,
    httpVersion: '1.1',
    route: 'open',
    upstream: 'backend',
  }
  for (const line of lines) t.match(line, { ...told, requestId: /^[0-9a-f-]{36}$/ })
})

t.test(
  'the time a WebSocket stays open counts neither as request time nor as gateway overhead',
  async (t) => {
    const { gateway } = await start(t)
    const askedAt = performance.now()
    const socket = await openWebSocket(t, `${gateway.url}/open`)
    const answeredMs = performance.now() - askedAt
    await until('it has been open for longer than it took to open', () => {
      return performance.now() - askedAt > 3 * answeredMs
    })
    socket.close()
    const figures = await until('it is counted', async () => {
      const now = await readMetrics(gateway.opsUrl)
      return now.value('gatehouse_http_requests_total', { route: 'open', code: '101' }) === 1
        ? now
        : undefined
    })
    for (const name of ['gatehouse_http_request_duration_seconds', 'gatehouse_overhead_duration_seconds']) {
      const seconds = figures.value(`${name}_sum`)
      t.ok(seconds > 0 && seconds <= answeredMs / 1_000, `${name}: ${seconds} s`)
      t.equal(figures.value(`${name}_count`), 1)
    }
  },
)

t.test('a WebSocket whose account can no longer be read is closed', async (t) => {
  const { gateway } = await start(t)
  const { account, secretKey } = await gateway.createAccount()
  const { closes } = record(
    await openWebSocket(t, `${gateway.url}/ws`, { headers: { SecretKey: secretKey } }),
  )
  const database = new DatabaseSync(join(dirname(gateway.configFile), 'gatehouse.db'))
  t.teardown(() => database.close())
  database.prepare("UPDATE accounts SET portal = '{' WHERE id = ?").run(account.id)
  const change = database.prepare("INSERT INTO changes (kind, subject, at) VALUES ('account', ?, ?)")
  change.run(account.id, Date.now())
  await until('it is closed', () => closes.length > 0)
  t.match(closes, [{ code: 1011 }])
})
