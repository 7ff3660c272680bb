import t, { type Test } from 'tap'
import { FrameConnection } from '#http/h2/framing/frame-connection.ts'
import type { FrameStream } from '#http/h2/framing/frame-stream.ts'
import { startGateway } from '../../setup/gateway.ts'
import { until } from '../../setup/net.ts'
import { connectSocketPair } from '../../setup/socket-pair.ts'
import { postBlock } from './flow.ts'
import { startFrameBackend } from './frame-backend.ts'
import { createFrameReader, endHeaders, frame, frameTypes, openRawSession, uint32 } from './frames.ts'

/** Clients and servers of gRPC send a PING for each piece of data that they read, however many there are. */

const message = Buffer.alloc(5)
const ping = frame('ping', 0, 0, Buffer.alloc(8))
const status200 = Buffer.from([0x88])
const opening = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  frame('settings', 0, 0),
  frame('headers', endHeaders, 1, postBlock('/')),
])

/** A connection whose only stream answers the head, and reads all. */
async function openConnection(t: Test, onData: (stream: FrameStream) => void) {
  const { socket, other, received } = await connectSocketPair(t)
  let opened: FrameStream | undefined
  const connection = new FrameConnection(
    socket,
    { isServer: true, settings: {}, windowBytes: 65_535, streamsMax: 10, headSizeMax: () => 1_000 },
    {
      onStream: (stream) => {
        opened = stream
        stream.events = {
          onHead: () => {},
          onData: () => onData(stream),
          isReleased: () => true,
          onEnd: () => {},
          onDrain: () => {},
          onEndSent: () => {},
          onClose: () => {},
        }
        stream.sendHead((encoder) => encoder.add(':status', '200'), false)
        stream.body.resume()
      },
      onSettings: () => {},
      onGoaway: () => {},
      onPing: () => {},
      onClose: () => {},
    },
  )
  connection.receive(opening)
  if (opened === undefined) throw new Error('no stream was opened')
  return { connection, other, received, stream: opened }
}

const messages = 70_000
const turnMessages = 500
/** What a client sends on reading one message: all of its windows are given back at once, as some do. */
const reaction = [1, 0].map((id) => frame('windowUpdate', 0, id, uint32(message.length)))

t.test('a stream of 70,000 messages with a PING for each goes on, whoever sends them', async (t) => {
  const ways = {
    'both sides': { sent: [frame('data', 0, 1, message), ping, ...reaction], answers: true },
    'the client': { sent: [frame('data', 0, 1, message), ping], answers: false },
    'the server': { sent: [ping, ...reaction], answers: true },
  }
  for (const [who, { sent, answers }] of Object.entries(ways)) {
    let received = 0
    const { connection, stream } = await openConnection(t, (one) => {
      received++
      if (answers) one.write(message)
    })
    const piece = Buffer.concat(sent)
    for (let count = 0; count < messages; count++) {
      if (who === 'the server') stream.write(message)
      connection.receive(piece)
      if (count % turnMessages === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    t.equal(connection.isClosed, false, who)
    t.equal(received, who === 'the server' ? 0 : messages)
  }
})

t.test('answers that a client does not read wait in few pieces', async (t) => {
  const { connection, other, received, stream } = await openConnection(t, () => {})
  other.pause()
  connection.receive(
    Buffer.concat([1, 0].map((id) => frame('windowUpdate', 0, id, uint32(2 ** 31 - 1 - 65_535)))),
  )
  for (let count = 0; count < 1_000 && stream.write(Buffer.alloc(65_536)); count++)
    await new Promise((resolve) => setImmediate(resolve))
  t.equal(connection.output.isBlocked, true)
  const [written, unsent] = [connection.socket.writableLength, connection.output.unsentBytes]
  for (let count = 0; count < 1_000; count++) {
    connection.receive(ping)
    await new Promise((resolve) => setImmediate(resolve))
  }
  t.equal(connection.output.unsentBytes - unsent, 1_000 * ping.length)
  t.equal(connection.socket.writableLength, written, 'no write for each')
  stream.reset(8)
  other.resume()
  await until('all are answered in the end', () => {
    let pongs = 0
    createFrameReader(({ type, flags }) => {
      if (type === frameTypes.ping && flags === 1) pongs++
    })(Buffer.from(received(), 'latin1'))
    return pongs === 1_000 || undefined
  })
})

t.test('PINGs of a backend for six clients on one connection end none of their streams', async (t) => {
  const each = 2_000
  const small = Buffer.alloc(4)
  const backend = await startFrameBackend(t, {
    onFrame: ({ socket }, { type, streamId, payload }) => {
      if (type === frameTypes.headers) socket.write(frame('headers', endHeaders, streamId, status200))
      if (type !== frameTypes.data) return
      // The gateway joins messages that come together.
      const pings = Array.from({ length: payload.length / small.length }, () => ping)
      socket.write(Buffer.concat([frame('data', 0, streamId, payload), ...pings]))
    },
  })
  const upstreams = { backend: { targets: [{ url: backend.url }], protocol: 'http2' } }
  const gateway = await startGateway(t, { config: { upstreams } })
  const clients = Array.from({ length: 6 }, async () => {
    const { socket, frames, received } = await openRawSession(t, gateway.url)
    socket.write(frame('headers', endHeaders, 1, postBlock('/public/x')))
    let bytes = 0
    let seen = 0
    for (let sent = 0; bytes < each * small.length; ) {
      while (sent * small.length < bytes + 400 && sent < each) {
        socket.write(Buffer.concat([frame('data', 0, 1, small), ping]))
        sent++
      }
      const before = frames.length
      await until('more has come', () => frames.length > before || socket.destroyed)
      for (; seen < frames.length; seen++) {
        const one = frames[seen]
        if (one?.type === frameTypes.data) bytes += one.payload.length
      }
      if (socket.destroyed || received.has(frameTypes.resetStream)) return bytes
    }
    return bytes
  })
  for (const bytes of await Promise.all(clients)) t.equal(bytes, each * small.length)
  t.equal(backend.connections.length, 1)
})
