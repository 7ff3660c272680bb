import { once } from 'node:events'
import { createServer } from 'node:http'
import { Server } from 'socket.io'
import { io, type Socket } from 'socket.io-client'
import t, { type Test } from 'tap'
import { portOf, until } from '../../setup/net.ts'
import { startPlace } from './client-gateway.ts'

/** A chat of socket.io behind the gateway. */
async function start(t: Test) {
  const users: (string | undefined)[] = []
  const http = createServer()
  const server = new Server(http, { pingInterval: 200, pingTimeout: 5_000 })
  server.on('connection', (socket) => {
    users.push(socket.handshake.headers['x-user-id']?.toString())
    socket.on('shout', (text: string, answer: (text: string) => void) => {
      socket.broadcast.emit('heard', text)
      answer(text.toUpperCase())
    })
    socket.on('bytes', (bytes: Buffer, answer: (bytes: Buffer) => void) =>
      answer(Buffer.from(bytes).reverse()),
    )
  })
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  t.teardown(() => server.close())
  const place = await startPlace(t, `http://127.0.0.1:${portOf(http)}`, { websocket: true })
  return { place, users }
}

function dial(t: Test, url: string, transports: string[], extraHeaders: Record<string, string>): Socket {
  const socket = io(url, { transports, extraHeaders, forceNew: true, reconnection: false })
  t.teardown(() => socket.disconnect())
  return socket
}

async function connected(socket: Socket): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    socket.on('connect', resolve).on('connect_error', reject)
  })
}

for (const transports of [['websocket'], ['polling'], ['polling', 'websocket']]) {
  t.test(`socket.io talks over ${transports.join(', then ')}`, async (t) => {
    const { place, users } = await start(t)
    const listener = dial(t, place.url, transports, { SecretKey: place.secretKey })
    const speaker = dial(t, place.url, transports, { Authorization: `Bearer ${place.accessToken}` })
    const heard: string[] = []
    listener.on('heard', (text: string) => heard.push(text))
    await Promise.all([connected(listener), connected(speaker)])
    const last = transports.at(-1)
    await until('both have the transport', () => speaker.io.engine.transport.name === last || undefined)

    for (const text of ['one', 'two', 'x'.repeat(200_000)]) {
      t.equal(await speaker.emitWithAck('shout', text), text.toUpperCase())
    }
    await until('all is heard', () => heard.length === 3 || undefined)
    t.strictSame(heard, ['one', 'two', 'x'.repeat(200_000)])
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))
    const answer = (await speaker.emitWithAck('bytes', bytes)) as Uint8Array
    t.ok(Buffer.from(answer).equals(Buffer.from(bytes).reverse()), 'bytes pass')
    t.strictSame(users, [place.accountId, place.accountId])
  })
}

t.test('without a credential socket.io is refused on either transport', async (t) => {
  const { place, users } = await start(t)
  for (const transports of [['websocket'], ['polling']]) {
    await t.rejects(connected(dial(t, place.url, transports, {})))
  }
  t.strictSame(users, [])
})
