import t from 'tap'
import { closeFrame } from '#gateway/forward/tunnel.ts'
import { answerOf, startHeadBackend } from '../../http/outgoing/backends.ts'
import { createRandom, cutAtRandom } from '../../http/outgoing/random.ts'
import { until } from '../../setup/net.ts'
import { connectRaw } from '../../setup/raw-client.ts'
import { connectProxy, headOf, startProxy } from './proxies.ts'
import { shortFrame } from './tunnels.ts'

const route = { websocket: true }
const ask = headOf(
  'GET /chat HTTP/1.1',
  'Connection: keep-alive, Upgrade, X-Hop',
  'Upgrade: websocket',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Protocol: chat',
  'X-Hop: 1',
  'X-User-Id: eve',
  'x_user_role: Admin',
)
const switching = [
  'HTTP/1.1 101 Switching Protocols',
  'Upgrade: websocket',
  'Connection: Upgrade',
  'Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=',
  'Sec-WebSocket-Protocol: chat',
  '',
  '',
].join('\r\n')

t.test('an upgrade passes with the fields of the WebSocket, and without what may not pass', async (t) => {
  const backend = await startHeadBackend(t, ({ socket }) => socket.write(switching))
  const client = await connectProxy(t, backend.url, { route })
  client.send(ask)
  const { status, headers } = await client.response()
  t.equal(status, 101)
  const { 'x-request-id': requestId, ...others } = headers
  t.match(requestId, /^[0-9a-f-]{36}$/)
  t.strictSame(others, {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-accept': 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=',
    'sec-websocket-protocol': 'chat',
  })
  const text = backend.heads[0]?.text ?? ''
  for (const line of [
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Protocol: chat',
  ]) {
    t.equal(text.split(`\r\n${line}`).length, 2, line)
  }
  t.notMatch(text, /x-hop|user.id|user.role/i)
})

t.test('bytes right behind either upgrade head are the first to pass', async (t) => {
  const backend = await startHeadBackend(t, ({ socket }) => socket.write(`${switching}hello`))
  const client = await connectProxy(t, backend.url, { route })
  let received = ''
  client.send(`${ask}early`)
  t.match(await client.readUntil('hello'), '101 Switching')
  backend.sockets[0]?.on('data', (data) => {
    received += String(data)
  })
  client.send(' and late')
  await until('all has come', () => received.endsWith('late') || undefined)
})

t.test('early bytes of a client pass, even if it has half-closed by then', async (t) => {
  const backend = await startHeadBackend(t, () => {})
  const client = await connectProxy(t, backend.url, { route })
  client.socket.allowHalfOpen = true
  client.send(`${ask}early`).socket.end()
  t.equal((await client.response()).status, 102, 'it is known to have closed')
  const [head] = backend.heads
  let received = ''
  head?.socket.on('data', (data) => {
    received += String(data)
  })
  head?.socket.on('end', () => {
    received += ', and its end'
  })
  head?.socket.write(switching)
  await until('all has come', () => received === 'early, and its end')
})

t.test('an open WebSocket passes every byte, both ways', async (t) => {
  const random = createRandom(8)
  const backend = await startHeadBackend(t, ({ socket }) => {
    socket.removeAllListeners('data')
    socket.write(switching)
    socket.on('data', (data) => socket.write(data))
  })
  const client = await connectProxy(t, backend.url, { route })
  client.socket.on('error', () => {})
  client.send(ask)
  t.equal((await client.response()).status, 101)
  const bytes = random.bytes(300_000)
  for (const piece of cutAtRandom(bytes, random, 5_000)) client.send(piece)
  t.ok((await client.readBytes(bytes.length)).equals(bytes))
  client.socket.end()
  await client.ended()
})

t.test('a WebSocket outlives every timeout of a request', async (t) => {
  const backend = await startHeadBackend(t, ({ socket, path }) => {
    if (path !== '/held') socket.write(switching)
  })
  const timeouts = { response: '50ms', idle: '50ms' }
  const { url } = await startProxy(t, backend.url, { route, upstream: { timeouts } })
  const client = await connectRaw(t, url)
  client.send(ask)
  t.equal((await client.response()).status, 101)
  t.equal((await fetch(`${url}/held`)).status, 504, 'of a request that began later')
  backend.sockets[0]?.write(shortFrame('still here'))
  t.strictSame(await client.readBytes(12), shortFrame('still here'))
})

t.test('a target that declines is heard as it is', async (t) => {
  const backend = await startHeadBackend(t, ({ socket }) =>
    socket.write(`HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno`),
  )
  const client = await connectProxy(t, backend.url, { route })
  client.send(ask)
  const { status, body } = await client.response()
  t.strictSame([status, body], [403, 'no'])
})

t.test('on a route without WebSockets an upgrade is an ordinary request', async (t) => {
  const backend = await startHeadBackend(t, ({ socket }) => socket.write(answerOf('plain')))
  const client = await connectProxy(t, backend.url)
  for (let turn = 0; turn < 2; turn++) {
    client.send(ask)
    t.equal((await client.response()).body, 'plain')
  }
  t.notMatch(backend.heads[0]?.text, /\r\n(connection|upgrade):/i)
})

t.test('an upgrade to anything else is an ordinary request, on any route', async (t) => {
  const backend = await startHeadBackend(t, ({ socket }) => socket.write(answerOf('plain')))
  const client = await connectProxy(t, backend.url, { route })
  for (const [line, upgrade] of [
    ['GET / HTTP/1.1', 'h2c'],
    ['GET / HTTP/1.1', 'foo/2'],
    ['POST / HTTP/1.1', 'websocket'],
  ] as const) {
    client.send(headOf(line, 'Connection: Upgrade', `Upgrade: ${upgrade}`))
    t.equal((await client.response()).body, 'plain', `${line} ${upgrade}`)
  }
  t.notMatch(backend.heads.map(({ text }) => text).join('\n'), /\nupgrade:/i)
})

t.test('a client that leaves before the 101 cancels its upgrade', async (t) => {
  const backend = await startHeadBackend(t, () => {})
  const client = await connectProxy(t, backend.url, { route })
  client.send(ask)
  await until('it is asked', () => backend.heads[0])
  client.close()
  await until('the target is rid of it', () => backend.sockets[0]?.closed || undefined, 3_000)
})

t.test('an unreachable target is 502 before any upgrade', async (t) => {
  const client = await connectProxy(t, 'http://127.0.0.1:1', { route })
  client.send(ask)
  t.equal((await client.response()).json().code, 'upstream-unreachable')
})

t.test('a shutdown says goodbye to open WebSockets with 1001', async (t) => {
  const backend = await startHeadBackend(t, ({ socket }) => socket.write(switching))
  const gateway = await startProxy(t, backend.url, { route })
  const client = await connectRaw(t, gateway.url)
  client.send(ask)
  t.equal((await client.response()).status, 101)
  const isDown = gateway.shutDown()
  const expected = closeFrame(1001, '', false).subarray(2, 4)
  const frame = await client.readBytes(4)
  t.equal(frame[0], 0x88)
  t.strictSame(frame.subarray(2), expected)
  client.close()
  await isDown
})
