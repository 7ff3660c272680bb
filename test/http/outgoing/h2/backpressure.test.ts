import t from 'tap'
import { until } from '../../../setup/net.ts'
import { startFrameBackend } from '../../h2/frame-backend.ts'
import { endHeaders, endStream, frame, frameTypes, uint32 } from '../../h2/frames.ts'
import { exchange, openTestUpstream } from '../exchange.ts'

const http2 = { protocol: 'http2' } as const
const wholeBytes = 8 * 1024 * 1024
const pieceBytes = 16_384
/** What the gateway lets a target send of a response that it does not read. */
const streamWindowBytes = 262_144

t.test('a target can send no more than a window of a response that nobody reads', async (t) => {
  let credit = streamWindowBytes
  let sent = 0
  let isPingAnswered = false
  const backend = await startFrameBackend(t, {
    onFrame: ({ socket }, { type, flags, streamId, payload }) => {
      if (type === frameTypes.ping && flags === 1) isPingAnswered = true
      if (type === frameTypes.headers) socket.write(frame('headers', endHeaders, 1, Buffer.from([0x88])))
      else if (type === frameTypes.windowUpdate && streamId === 1) credit += payload.readUInt32BE(0)
      else return
      for (; credit >= pieceBytes && sent < wholeBytes; credit -= pieceBytes) {
        sent += pieceBytes
        socket.write(frame('data', sent === wholeBytes ? endStream : 0, 1, Buffer.alloc(pieceBytes)))
      }
    },
  })
  const asked = exchange(openTestUpstream(t, backend.url, http2))
  let received = 0
  asked.onData = ({ length }) => {
    received += length
    if (received === length) asked.call.pause()
  }
  await until('it is paused', () => received > 0 && sent >= streamWindowBytes)
  // Whatever the gateway would say to what was sent, it says before it answers this.
  backend.connections[0]?.socket.write(frame('ping', 0, 0, Buffer.alloc(8)))
  await until('it has seen all', () => isPingAnswered || undefined)
  t.ok(sent <= 2 * streamWindowBytes, `${sent} bytes`)
  t.ok(received < streamWindowBytes, `${received} bytes`)
  asked.call.resume()
  t.equal((await asked.answer).body.length, wholeBytes)
})

t.test('no more of a body is taken than its target lets through, and all of it in the end', async (t) => {
  let arrived = 0
  const backend = await startFrameBackend(t, {
    onFrame: (connection, { type, flags, payload }) => {
      if (type !== frameTypes.data) return
      arrived += payload.length
      if (flags & endStream) connection.respond(1, String(arrived))
    },
  })
  const upstream = openTestUpstream(t, backend.url, http2)
  const asked = exchange(upstream, {
    method: 'POST',
    body: 'chunked',
    lines: 'Transfer-Encoding: chunked\r\n',
  })
  await asked.sent
  let written = 0
  let isFull = false
  const write = () => {
    isFull = false
    while (!isFull && written < wholeBytes) {
      written += pieceBytes
      isFull = !asked.call.write(Buffer.alloc(pieceBytes))
    }
    if (written === wholeBytes) asked.call.finish('')
  }
  asked.onDrain = write
  write()
  await until('the window is used up', () => arrived === 65_535 || undefined)
  t.ok(isFull && written <= 65_535 + 2 * 65_536, `${written} bytes`)
  const socket = backend.connections[0]?.socket
  for (const streamId of [0, 1]) socket?.write(frame('windowUpdate', 0, streamId, uint32(wholeBytes)))
  t.equal((await asked.answer).body, String(wholeBytes))
})

t.test('a target of HTTP/2 can send no more than 64 informational heads that nobody reads', async (t) => {
  const early = Buffer.from([0x08, 0x03, ...Buffer.from('103')])
  for (const [count, isTooMany] of [
    [64, false],
    [65, true],
    [10_000, true],
  ] as const) {
    const backend = await startFrameBackend(t, {
      onFrame: (connection, { type, streamId }) => {
        if (type !== frameTypes.headers) return
        const head = frame('headers', endHeaders, streamId, early)
        // The first pauses it.
        for (let sent = 0; sent < count + 1; sent++) connection.socket.write(head)
        connection.respond(streamId, 'ok')
      },
    })
    const asked = exchange(openTestUpstream(t, backend.url, http2))
    asked.onInformation = () => asked.call.pause()
    if (isTooMany) t.equal((await asked.failure).reason, 'invalid-response')
    else {
      await until('the head is there', () => asked.events.includes('head') || undefined)
      asked.call.resume()
      t.equal((await asked.answer).information.length, count + 1)
    }
  }
})
