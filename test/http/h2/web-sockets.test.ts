import { once } from 'node:events'
import type { ClientHttp2Session, OutgoingHttpHeaders } from 'node:http2'
import { createServer } from 'node:net'
import t, { type Test } from 'tap'
import type { ClientExchange, OpenConnection } from '#http/client-exchange.ts'
import { NameTable } from '#http/message/name-table.ts'
import { createSessionOpener } from '#http/server/h2/client-session.ts'
import { ClientStream } from '#http/server/h2/client-stream.ts'
import { DeadlineSweep } from '#platform/deadline-sweep.ts'
import { shortFrame } from '../../gateway/forward/tunnels.ts'
import { ask as askHttp1 } from '../../gateway/support/ask.ts'
import { acceptOf, startWebSocketBackend, upgradeLines } from '../../gateway/support/web-socket.ts'
import { startRawBackend } from '../../setup/backend.ts'
import { startBoth } from '../../setup/both.ts'
import { startGateway } from '../../setup/gateway.ts'
import { portOf, until } from '../../setup/net.ts'
import { type Answer, ask, codeOf, connectHttp2 } from './ask.ts'
import { bodyOf, roundTrip, widen, windowDefault } from './flow.ts'
import { endHeaders, fieldBlock, frame, openRawSession } from './frames.ts'

/** Extended CONNECT (RFC 8441): to CONNECT a 2xx means that the tunnel is open (RFC 9110 9.3.6). */

const handshake = { ':method': 'CONNECT', ':protocol': 'websocket', 'sec-websocket-version': '13' }

/** What answers a handshake that is not to succeed; of one that does, the answer would have no end. */
function askToOpen(
  session: ClientHttp2Session,
  path: string,
  headers: OutgoingHttpHeaders = {},
): Promise<Answer> {
  return ask(session, path, { headers: { ...handshake, ...headers } })
}

function acceptLine(head: string): string {
  const key = /\r\nsec-websocket-key: (\S+)/i.exec(head)?.[1] ?? ''
  return `Sec-WebSocket-Accept: ${acceptOf(key)}\r\n`
}

const switching = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n'

/** A backend that answers with bare bytes, and echoes what follows. @param answer to the head that it got */
async function startEcho(t: Test, answer: (head: string) => string) {
  const heads: string[] = []
  let closed = 0
  const url = await startRawBackend(t, (socket) => {
    socket.on('close', () => closed++)
    socket.once('data', (bytes: Buffer) => {
      const head = bytes.toString('latin1')
      heads.push(head)
      socket.write(answer(head))
      socket.on('data', (frame: Buffer) => socket.write(frame)).on('end', () => socket.end('over'))
    })
  })
  return { url, heads, closed: () => closed }
}

async function startChat(t: Test, backend: string, route = {}, config = {}) {
  const chat = { name: 'chat', path: '/chat', upstream: 'backend', auth: 'none', websocket: true, ...route }
  const gateway = await startGateway(t, { backend, config: { routes: [chat], ...config } })
  return { gateway, session: await connectHttp2(t, gateway.url) }
}

t.test('a WebSocket over HTTP/2 reaches a backend of HTTP/1.1, and ends when its key does', async (t) => {
  const { url, heads } = await startEcho(t, (head) => `${switching}${acceptLine(head)}\r\n`)
  const { gateway, session } = await startChat(t, url, { auth: 'any' })
  const { account, secretKey } = await gateway.createAccount()
  t.equal((await askToOpen(session, '/chat')).status, 401)
  const stream = session.request({ ...handshake, ':path': '/chat', secretkey: secretKey })
  const [head] = await once(stream, 'response')
  t.strictSame([head[':status'], head['sec-websocket-accept'], head.upgrade], [200, undefined, undefined])
  t.match(heads[0], /\r\nsec-websocket-key: .{24}\r\n/i)
  const frame = shortFrame('hello', { isMasked: true })
  stream.write(frame)
  const [echo] = await once(stream, 'data')
  t.strictSame(echo, frame)
  const received: Buffer[] = []
  stream.on('data', (chunk: Buffer) => received.push(chunk)).on('error', () => {})
  await gateway.operate(({ defaultKeys }) => defaultKeys.resetSecretKey(account.id, 0))
  await once(stream, 'close')
  t.equal(Buffer.concat(received).readUInt16BE(2), 4001)
})

t.test('a WebSocket that its client ends with the handshake is ended for the backend', async (t) => {
  const { url } = await startEcho(t, (head) => `${switching}${acceptLine(head)}\r\n`)
  const { session } = await startChat(t, url)
  const stream = session.request({ ...handshake, ':path': '/chat' }, { endStream: true })
  const [data] = await once(stream, 'data')
  t.equal(String(data), 'over')
})

t.test(
  'a WebSocket over HTTP/2 is 405 on a route without websocket, whose backend gets nothing',
  async (t) => {
    const route = { upstream: 'backend', auth: 'none' }
    const routes = [
      { ...route, name: 'plain', path: '/plain' },
      { ...route, name: 'reads', path: '/twice', methods: ['GET'] },
      { ...route, name: 'writes', path: '/twice', methods: ['PUT'] },
      { ...route, name: 'posts', path: '/posts', methods: ['POST'], websocket: true },
      { ...route, name: 'keys', path: '/keys', auth: 'secretKey' },
    ]
    const { backend, gateway } = await startBoth(t, { config: { routes } })
    const session = await connectHttp2(t, gateway.url)
    const any = 'DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT'
    for (const [path, allow] of [
      ['/plain', any],
      ['/twice', 'GET, HEAD, PUT'],
      ['/posts', 'POST'],
      ['/keys', any],
    ] as const) {
      const answer = await askToOpen(session, path)
      t.strictSame(
        [answer.status, codeOf(answer), answer.headers.allow],
        [405, 'method-not-allowed', allow],
        path,
      )
    }
    t.equal((await askToOpen(session, '/nowhere')).status, 404)
    t.equal((await askToOpen(session, '/plain', { 'content-type': 'application/grpc' })).status, 405)
    t.equal((await ask(session, '/plain')).status, 200, 'the connection goes on')
    t.equal(backend.seen.length, 1)
    const [logged] = await until('it is logged', () => {
      const lines = gateway.logLines.map((line) => JSON.parse(line)).filter(({ path }) => path === '/plain')
      return lines.length === 3 ? lines : undefined
    })
    t.match(logged, { status: 405, route: 'plain', reason: /websocket: true/ })
  },
)

t.test('no endpoint of the gateway answers a WebSocket over HTTP/2 with 2xx', async (t) => {
  const gateway = await startGateway(t)
  const { JwtToken } = await gateway.tokens(await gateway.createAccount({ role: 'Admin' }))
  const session = await connectHttp2(t, gateway.url)
  for (const [path, allow] of [
    ['/.well-known/jwks.json', 'GET, HEAD'],
    ['/.well-known/oauth-protected-resource/any', 'GET, HEAD'],
    ['/api/v1/openapi.json', 'GET, HEAD'],
    ['/api/v1/accounts/access-token', 'POST'],
    ['/api/v1/accounts/usage', 'GET, HEAD'],
    ['/api/v1/admin/accounts', 'GET, HEAD, POST'],
    ['/portal/sign-in', 'GET, HEAD, POST'],
  ] as const) {
    const answer = await askToOpen(session, path, { authorization: `Bearer ${JwtToken}` })
    t.strictSame(
      [answer.status, codeOf(answer), answer.headers.allow],
      [405, 'method-not-allowed', allow],
      path,
    )
  }
})

t.test('a 2xx of a backend that has not accepted the WebSocket over HTTP/2 becomes 502', async (t) => {
  let answer = ''
  const { url, closed } = await startEcho(t, () => answer)
  const { gateway, session } = await startChat(t, url)
  const answers = [
    '200 OK\r\nContent-Length: 5\r\n\r\nhello',
    '200 OK\r\nContent-Length: 0\r\n\r\n',
    '200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n',
    '200 OK\r\n\r\nhello',
    '204 No Content\r\n\r\n',
    '103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 206 Partial Content\r\nContent-Length: 0\r\n\r\n',
  ]
  for (const [index, each] of answers.entries()) {
    answer = `HTTP/1.1 ${each}`
    const received = await askToOpen(session, '/chat')
    t.strictSame([received.status, codeOf(received)], [502, 'upstream-invalid-response'], each)
    await until('the connection of the backend is closed', () => closed() === index + 1)
  }
  const lines = await until('they are logged', () => {
    const requests = gateway.logLines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request')
    return requests.length === answers.length ? requests : undefined
  })
  t.match(lines[4], { status: 502, reason: /^a 204 instead of a 101/ })
  answer = `HTTP/1.1 ${answers[0]}`
  t.match(
    await askHttp1(t, gateway.url, 'GET /chat', upgradeLines),
    { status: 200, body: 'hello' },
    'HTTP/1.1 tells them apart',
  )
})

t.test("a backend's refusal of a WebSocket over HTTP/2 reaches the client", async (t) => {
  const { url } = await startWebSocketBackend(t)
  const { session } = await startChat(t, url, { path: '/ws' })
  t.equal((await askToOpen(session, '/ws/refused')).status, 401)
  const mistaken = await askToOpen(session, '/ws', { 'sec-websocket-version': '7' })
  t.equal(mistaken.status, 400)
  t.match(mistaken.headers, { 'sec-websocket-version': /13/ })
  for (const status of ['302 Found\r\nLocation: /x', '403 Forbidden', '426 Upgrade Required', '503 Busy']) {
    const canned = await startEcho(t, () => `HTTP/1.1 ${status}\r\nContent-Length: 2\r\n\r\nno`)
    const { session } = await startChat(t, canned.url)
    t.match(await askToOpen(session, '/chat'), { status: Number(status.slice(0, 3)), body: 'no' })
  }
})

t.test('a 101 without the answer to the key of the gateway becomes 502', async (t) => {
  let lines = (_head: string): string => ''
  const { url, closed } = await startEcho(t, (head) => `${switching}${lines(head)}\r\n`)
  const { gateway, session } = await startChat(t, url)
  const wrong: readonly (typeof lines)[] = [
    () => '',
    () => 'Sec-WebSocket-Accept: wrong\r\n',
    () => 'Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n',
    (head) => acceptLine(head).toLowerCase(),
    (head) => acceptLine(head) + acceptLine(head),
    (head) => `${acceptLine(head)}Sec-WebSocket-Accept: wrong\r\n`,
  ]
  for (const [index, each] of wrong.entries()) {
    lines = each
    const answer = await askToOpen(session, '/chat')
    t.strictSame([answer.status, codeOf(answer)], [502, 'upstream-invalid-response'], each('key'))
    await until('the connection of the backend is closed', () => closed() === index + 1)
  }
  const logged = await until('it is logged', () =>
    gateway.logLines.map((line) => JSON.parse(line)).find(({ msg }) => msg === 'request'),
  )
  t.match(logged, { status: 502, reason: /Sec-WebSocket-Accept/ })
  const upgraded = await askHttp1(t, gateway.url, 'GET /chat', upgradeLines)
  t.equal(upgraded.status, 101, 'a client of HTTP/1.1 checks it itself')
})

t.test('Sec-WebSocket-Key and -Accept of a client of HTTP/2 stay behind', async (t) => {
  const { url, heads } = await startEcho(t, (head) => `${switching}${acceptLine(head)}\r\n`)
  const { session } = await startChat(t, url)
  const key = 'dGhlIHNhbXBsZSBub25jZQ=='
  const stream = session.request({
    ...handshake,
    ':path': '/chat',
    ['sec-websocket-key' as string]: [key, 'x'],
    'sec-websocket-accept': 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=',
    'sec-websocket-protocol': 'chat',
  })
  const [head] = await once(stream, 'response')
  t.equal(head[':status'], 200)
  stream.close()
  const names = heads[0]?.match(/^sec-websocket-\S+(?=:)/gim)?.map((name) => name.toLowerCase())
  t.strictSame(names?.toSorted(), ['sec-websocket-key', 'sec-websocket-protocol', 'sec-websocket-version'])
  t.notMatch(heads[0], key)
})

t.test('the access cookie opens a WebSocket over HTTP/2 for pages of the same origin only', async (t) => {
  const backend = await startWebSocketBackend(t)
  const route = { path: '/ws', auth: 'any', browser: { cookie: true } }
  const config = { accessCookie: { enabled: true } }
  const { gateway, session } = await startChat(t, backend.url, route, config)
  const { JwtToken } = await gateway.tokens(await gateway.createAccount())
  const cookie = `accessToken=${JwtToken}`
  for (const page of [{}, { 'sec-fetch-site': 'same-site' }, { origin: 'https://other.example' }])
    t.equal((await askToOpen(session, '/ws', { cookie, ...page })).status, 401, JSON.stringify(page))
  t.equal(backend.upgrades.length, 0)
  const headers = { ...handshake, ':path': '/ws', cookie, 'sec-fetch-site': 'same-origin' }
  const [head] = await once(session.request(headers), 'response')
  t.equal(head[':status'], 200)
  t.equal(backend.upgrades.length, 1)
})

t.test('what a backend sent before it closed reaches a client whose window was too small', async (t) => {
  const sent = Buffer.alloc(windowDefault + 20_000, 0x80)
  const backend = await startRawBackend(t, (socket) => {
    socket.once('data', (bytes: Buffer) => {
      socket.write(`${switching}${acceptLine(bytes.toString('latin1'))}\r\n`)
      socket.end(sent)
    })
  })
  const routes = [{ name: 'chat', path: '/chat', upstream: 'backend', auth: 'none', websocket: true }]
  const gateway = await startGateway(t, { backend, config: { routes } })
  const raw = await openRawSession(t, gateway.url)
  // Pseudo-header fields come first.
  const fields = { ':scheme': 'http', ':path': '/chat', ':authority': 'a', ...handshake }
  raw.socket.write(frame('headers', endHeaders, 1, fieldBlock(Object.entries(fields))))
  await until('the window is used up', () => bodyOf(raw, 1).length === windowDefault)
  await roundTrip(raw)
  for (const id of [0, 1]) widen(raw, id, 20_000)
  await until('the stream has ended', () => raw.ended.includes(1))
  t.strictSame(bodyOf(raw, 1), sent)
})

/** A server whose requests are handled by `onRequest`. */
async function startSessions(
  t: Test,
  onRequest: (exchange: ClientExchange) => void,
  onEnd: (isComplete: boolean) => void = () => {},
) {
  const connections = new DeadlineSweep<OpenConnection>(500)
  const sessions = createSessionOpener({
    ...{ keepAliveTimeoutMs: 5_000, headBytesMax: 16_384, bodyRateMin: 1, streamsMax: 10 },
    connections,
    bodies: new DeadlineSweep(500),
    names: () => new NameTable([]),
    requestTimeoutMs: 30_000,
    isTrustedProxy: () => false,
    isDraining: () => false,
    onRequest,
    onUnreadable: (exchange) => exchange.abort(),
    onEnd: (_exchange, isComplete) => onEnd(isComplete),
    onSessionError: () => {},
  })
  const server = createServer((socket) => void sessions.open(socket, '127.0.0.1', undefined)).listen(
    0,
    '127.0.0.1',
  )
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    for (const { socket } of connections) socket.destroy()
  })
  return connectHttp2(t, `http://127.0.0.1:${portOf(server)}`)
}

t.test('an extended CONNECT is reset rather than answered with 2xx, whoever answers it', async (t) => {
  const ends: boolean[] = []
  const session = await startSessions(
    t,
    (exchange) => {
      exchange.respond(200, 'OK', 'Content-Length: 2\r\n', 'counted')
      exchange.write(Buffer.from('ok'))
      exchange.end()
    },
    (isComplete) => ends.push(isComplete),
  )
  t.equal((await ask(session, '/x')).body, 'ok')
  const { status, resetCode } = await askToOpen(session, '/x')
  t.strictSame([status, resetCode], [0, 2], 'INTERNAL_ERROR')
  t.equal((await ask(session, '/x')).body, 'ok', 'the connection goes on')
  t.strictSame(ends, [true, false, true])
})

t.test('the time for an unread informational response ends where a tunnel begins', async (t) => {
  const opened: ClientExchange[] = []
  const session = await startSessions(t, (exchange) => {
    exchange.startSendTimeout()
    exchange.acceptUpgrade('OK', '')
    opened.push(exchange)
  })
  const stream = session.request({ ...handshake, ':path': '/x' })
  await once(stream, 'response')
  t.equal(opened[0] instanceof ClientStream && opened[0].deadline, Number.POSITIVE_INFINITY)
  stream.close()
})
