import { constants } from 'node:http2'
import t, { type Test } from 'tap'
import { until } from '../../../setup/net.ts'
import { type FrameConnection, startFrameBackend } from '../../h2/frame-backend.ts'
import { endHeaders, endStream, frame, frameTypes } from '../../h2/frames.ts'
import { exchange, openTestUpstream, request } from '../exchange.ts'

/** The static table (RFC 7541 A): `:status: 200`; a literal with the name `content-length`: 9. */
const head = Buffer.from([0x88])
const countedHead = Buffer.from([0x88, 0x0f, 0x0d, 0x01, 0x39])

/** A backend that does something with the head of each request. */
function startBackend(t: Test, onHead: (connection: FrameConnection, streamId: number) => void) {
  return startFrameBackend(t, {
    onFrame: (connection, { type, streamId }) => {
      if (type === frameTypes.headers) onHead(connection, streamId)
    },
  })
}

const http2 = { protocol: 'http2' } as const

const endings: Record<string, (connection: FrameConnection, streamId: number) => void> = {
  'GOAWAY with an error': (connection, streamId) => connection.goaway(streamId, 2),
  'end of the connection': (connection) => connection.socket.end(),
  'reset of the connection': (connection) => connection.socket.resetAndDestroy(),
  'RST_STREAM, CANCEL': (connection, streamId) => connection.reset(streamId, constants.NGHTTP2_CANCEL),
  'RST_STREAM, INTERNAL_ERROR': (connection, streamId) => connection.reset(streamId, 2),
}

/** One response that ends after its first piece. */
async function cutShort(t: Test, end: (typeof endings)[string], block: Buffer, isPaused: boolean) {
  const backend = await startBackend(t, ({ socket }, streamId) => {
    socket.write(frame('headers', endHeaders, streamId, block))
    socket.write(frame('data', 0, streamId, Buffer.from('part')))
  })
  const asked = exchange(openTestUpstream(t, backend.url, http2))
  if (isPaused) asked.onData = () => asked.call.pause()
  await until('it has begun', () => asked.events.includes('data') || undefined)
  const [connection] = backend.connections
  if (connection) end(connection, 1)
  if (isPaused) asked.call.resume()
  return asked.failure
}

t.test('a response that is cut short never counts as complete, however it ends', async (t) => {
  for (const [name, end] of Object.entries(endings)) {
    for (const isPaused of [false, true]) {
      for (const block of [head, countedHead]) {
        const what = `${name}, ${block === head ? 'any' : 'known'} length, paused: ${isPaused}`
        t.equal((await cutShort(t, end, block, isPaused)).reason, 'closed-early', what)
      }
    }
  }
  const tooEarly = ({ socket }: FrameConnection) => socket.write(frame('data', endStream, 1))
  t.equal(
    (await cutShort(t, tooEarly, countedHead, false)).reason,
    'invalid-response',
    'shorter than it says',
  )
})

t.test('a complete response is one, though the target wants no more of the body', async (t) => {
  const backend = await startBackend(t, (connection, streamId) => {
    connection.respond(streamId, 'too large')
    connection.reset(streamId, constants.NGHTTP2_NO_ERROR)
  })
  const upstream = openTestUpstream(t, backend.url, http2)
  const { call, sent, answer } = exchange(upstream, {
    ...{ method: 'POST', body: 'counted', lines: 'Content-Length: 1000000\r\n' },
  })
  await sent
  call.write(Buffer.alloc(100_000))
  t.equal((await answer).body, 'too large')
  t.equal((await request(upstream)).body, 'too large')
  t.equal(backend.connections.length, 1)
})

t.test('a stream whose body waits for its window ends with a response that does not', async (t) => {
  const resets: number[] = []
  let isAnswered = false
  const backend = await startFrameBackend(t, {
    onFrame: (connection, { type, streamId, payload }) => {
      if (type === frameTypes.data && !isAnswered) {
        isAnswered = true
        connection.respond(streamId, 'too large')
      }
      if (type === frameTypes.resetStream) resets.push(payload.readUInt32BE(0))
    },
  })
  const upstream = openTestUpstream(t, backend.url, http2)
  const { call, sent, answer } = exchange(upstream, {
    ...{ method: 'POST', body: 'counted', lines: 'Content-Length: 100000\r\n' },
  })
  await sent
  call.write(Buffer.alloc(100_000))
  call.finish('')
  t.equal((await answer).body, 'too large')
  await until('it is reset', () => resets.length > 0 || undefined)
  t.strictSame(resets, [constants.NGHTTP2_NO_ERROR])
})

t.test('cancelled requests are reset at the target, before and within their answers', async (t) => {
  const codes: number[] = []
  let hasHead = false
  const backend = await startFrameBackend(t, {
    onFrame: ({ socket }, { type, streamId, payload }) => {
      if (type === frameTypes.resetStream) codes.push(payload.readUInt32BE(0))
      if (type !== frameTypes.headers) return
      hasHead = true
      if (streamId > 1) socket.write(frame('headers', endHeaders, streamId, head))
    },
  })
  const upstream = openTestUpstream(t, backend.url, http2)
  const early = exchange(upstream)
  await until('it is asked', () => hasHead || undefined)
  early.call.cancel()
  const late = exchange(upstream, {
    method: 'POST',
    body: 'chunked',
    lines: 'Transfer-Encoding: chunked\r\n',
  })
  await until('it is answered', () => late.events.includes('head') || undefined)
  late.call.cancel()
  await until('both are reset', () => codes.length === 2 || undefined)
  t.strictSame(codes, [constants.NGHTTP2_CANCEL, constants.NGHTTP2_CANCEL])
  t.strictSame([early.events, late.events], [['sent'], ['sent', 'head']])
  t.equal(backend.connections.length, 1)
})

t.test('a connection on which a target answers nothing any more gets no more requests', async (t) => {
  const backend = await startBackend(t, (connection, streamId) => {
    if (connection.index === 0 && streamId > 1) connection.socket.pause()
    else connection.respond(streamId, 'ok')
  })
  const upstream = openTestUpstream(t, backend.url, {
    ...http2,
    responseTimeoutMs: 100,
    connectTimeoutMs: 200,
  })
  await request(upstream)
  t.equal((await exchange(upstream).failure).reason, 'response-timeout')
  await until('another connection is taken', async () => {
    const { head } = await request(upstream).catch(() => ({ head: undefined }))
    return head?.status
  })
  t.equal(backend.connections.length, 2)
})

t.test('a slow answer costs no connection that is alive', async (t) => {
  let pings = 0
  const backend = await startFrameBackend(t, {
    onFrame: (connection, { type, streamId }) => {
      if (type === frameTypes.ping) pings++
      if (type === frameTypes.headers && streamId === 1) connection.respond(streamId, 'ok')
    },
  })
  const upstream = openTestUpstream(t, backend.url, http2)
  await request(upstream)
  // Another PING is sent only after the answer to the last.
  await until('three were answered', async () => {
    t.equal((await exchange(upstream, { responseTimeoutMs: 50 }).failure).reason, 'response-timeout')
    return pings >= 3 || undefined
  })
  t.equal(backend.connections.length, 1)
})

t.test('a connection that is lost while it owes the answer to a PING leaves no timer behind', async (t) => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
  const backend = await startBackend(t, ({ socket }) => void socket.pause())
  const upstream = openTestUpstream(t, backend.url, { ...http2, connectTimeoutMs: 60_000 })
  const before = timers()
  t.equal((await exchange(upstream, { responseTimeoutMs: 50 }).failure).reason, 'response-timeout')
  const [connection] = backend.connections
  t.equal(timers(), before + 1)
  connection?.socket.resetAndDestroy()
  await until('it has none', () => timers() === before || undefined)
})
