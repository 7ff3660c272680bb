import type { Socket } from 'node:net'
import t, { type Test } from 'tap'
import {
  acceptOf,
  openWebSocket,
  record,
  startWebSocketBackend,
  upgradeLines,
} from '../../gateway/support/web-socket.ts'
import { startBackend, startRawBackend } from '../../setup/backend.ts'
import { freePort, until } from '../../setup/net.ts'
import { connectRaw, rawRequest } from '../../setup/raw-client.ts'
import { startProxy } from './start-proxy.ts'

async function start(t: Test) {
  const backend = await startWebSocketBackend(t)
  const ordinary = await startBackend(t)
  const app = await startProxy(t, [
    { upstream: backend.url, prefix: '/ws', auth: 'any', websocket: true, maxBody: '1KiB' },
    { upstream: ordinary.url, prefix: '/plain', auth: 'none' },
  ])
  return { backend, ordinary, ...app }
}

t.test('an upgrade is authenticated, and carries the identity and no credential', async (t) => {
  const { backend, ordinary, url, createAccount } = await start(t)
  const { account, secretKey } = await createAccount({ role: 'Editor' })
  const headers = {
    SecretKey: secretKey,
    'X-User-Id': 'root',
    X_User_Role: 'Admin',
    'X.User.Role': 'Admin',
    'X-Forwarded-For': '1.2.3.4',
    Cookie: 'refreshToken=x; a=1',
    Connection: 'Upgrade, X-User-Id, X-User-Role',
  }
  const socket = await openWebSocket(t, `${url}/ws/x?y=1`, { headers })
  const { messages } = record(socket)
  socket.send('hello')
  await until('the echo', () => messages[0]?.data.toString() === 'hello')
  const upgrade = backend.upgrades[0]
  t.equal(upgrade?.url, '/ws/x?y=1')
  t.match(upgrade?.headers, {
    'x-user-id': account.id,
    'x-user-role': 'Editor',
    'x-forwarded-for': '127.0.0.1',
    cookie: 'a=1',
    host: new URL(url).host,
  })
  for (const name of ['secretkey', 'x_user_role', 'x.user.role'])
    t.notOk(name in (upgrade?.headers ?? {}), name)
  t.strictSame(ordinary.seen, [])
})

t.test('a client that leaves before the backend has accepted leaves no connection behind', async (t) => {
  const sockets: Socket[] = []
  let head = ''
  const backend = await startRawBackend(t, (socket) => {
    sockets.push(socket.on('data', (bytes: Buffer) => (head += bytes.toString('latin1'))))
  })
  const { app, url } = await startProxy(t, [
    { upstream: backend, prefix: '/ws', auth: 'none', websocket: true },
  ])
  const client = await connectRaw(t, url)
  client.send(`${['GET /ws HTTP/1.1', 'Host: a', ...upgradeLines].join('\r\n')}\r\n\r\n`)
  await until('the backend is asked', () => head.endsWith('\r\n\r\n'))
  client.close()
  const open = () => new Promise<number>((resolve) => app.server.getConnections((_, count) => resolve(count)))
  await until('the app has noticed', async () => (await open()) === 0)
  const [socket] = sockets
  const key = /\r\nsec-websocket-key: (\S+)/i.exec(head)?.[1] ?? ''
  const lines = [
    'HTTP/1.1 101 x',
    'Upgrade: websocket',
    'Connection: Upgrade',
    `Sec-WebSocket-Accept: ${acceptOf(key)}`,
  ]
  socket?.write(`${lines.join('\r\n')}\r\n\r\n`)
  await until('the backend is left too', () => socket?.destroyed)
})

t.test('an upgrade without a credential is refused, and reaches no backend', async (t) => {
  const { backend, url } = await start(t)
  const response = await rawRequest(t, url, ['GET /ws HTTP/1.1', 'Host: a', ...upgradeLines])
  t.match(response.json(), { code: 'credentials-missing', status: 401 })
  t.strictSame(backend.upgrades, [])
})

t.test('an upgrade to a prefix without WebSockets is an ordinary request', async (t) => {
  const { ordinary, url } = await start(t)
  const response = await rawRequest(t, url, ['GET /plain/x HTTP/1.1', 'Host: a', ...upgradeLines])
  t.equal(response.status, 200)
  t.notOk('upgrade' in ordinary.last().headers)
})

t.test('another protocol in Upgrade is ignored', async (t) => {
  const { backend, url, createAccount } = await start(t)
  const { secretKey } = await createAccount()
  const lines = [
    'GET /ws HTTP/1.1',
    'Host: a',
    `SecretKey: ${secretKey}`,
    'Connection: Upgrade',
    'Upgrade: h2c',
  ]
  t.equal((await rawRequest(t, url, lines)).status, 200)
  t.equal(backend.ordinary.length, 1)
})

t.test(
  'an upgrade pipelined behind an unanswered request is an ordinary one, and ends nothing',
  async (t) => {
    const { backend, url, createAccount } = await start(t)
    const key = `SecretKey: ${(await createAccount()).secretKey}`
    const head = (path: string, ...lines: readonly string[]) =>
      `${[`GET ${path} HTTP/1.1`, 'Host: a', key, ...lines].join('\r\n')}\r\n\r\n`
    const client = await connectRaw(t, url)
    client.send(head('/ws/first') + head('/ws/second', ...upgradeLines))
    for (let turn = 0; turn < 2; turn++) t.equal((await client.response()).status, 200)
    client.send(head('/ws/third'))
    t.equal((await client.response()).status, 200)
    t.strictSame(backend.ordinary.length, 3)
    t.strictSame(backend.upgrades, [])
  },
)

t.test('a revoked credential closes its WebSockets with 4001, on both sides', async (t) => {
  const { backend, url, createAccount, operate } = await start(t)
  const { account, secretKey } = await createAccount()
  const other = await createAccount()
  const mine = await openWebSocket(t, `${url}/ws`, { headers: { SecretKey: secretKey } })
  const theirs = await openWebSocket(t, `${url}/ws`, { headers: { SecretKey: other.secretKey } })
  const [{ closes }, { messages }] = [record(mine), record(theirs)]
  await until('both are connected', () => backend.sockets.length === 2)
  const { closes: atBackend } = record(backend.sockets[0])
  await operate(({ defaultKeys }) => defaultKeys.resetSecretKey(account.id, 0))
  await until('the close', () => closes.length === 1)
  t.match(closes, [{ code: 4001, reason: 'revoked' }])
  await until('the close at the backend', () => atBackend.length === 1)
  t.match(atBackend, [{ code: 4001 }])
  theirs.send('still open')
  await until('the echo', () => messages.length === 1)
})

t.test('a message has a limit: at it, one over and far over it', async (t) => {
  const { url, createAccount } = await start(t)
  const { secretKey } = await createAccount()
  for (const [size, isAllowed] of [
    [1_024, true],
    [1_025, false],
    [1_024_000, false],
  ] as const) {
    const socket = await openWebSocket(t, `${url}/ws`, { headers: { SecretKey: secretKey } })
    const { messages, closes } = record(socket)
    socket.send('x'.repeat(size))
    await until('an answer', () => messages.length + closes.length > 0)
    t.equal(messages.length, isAllowed ? 1 : 0, String(size))
    if (!isAllowed) t.equal(closes[0]?.code, 1009, String(size))
    socket.close()
  }
})

t.test('a client is not told the address of a backend that cannot be reached', async (t) => {
  const port = await freePort()
  const { url } = await startProxy(t, [
    { upstream: `http://127.0.0.1:${port}`, prefix: '/ws', auth: 'none', websocket: true },
  ])
  const socket = await openWebSocket(t, `${url}/ws`)
  const { closes } = record(socket)
  await until('the close', () => closes.length === 1)
  t.strictSame(closes, [{ code: 1011, reason: '' }])
})
