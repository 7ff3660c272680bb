import { constants } from 'node:http2'
import t, { type Test } from 'tap'
import { until } from '../../../setup/net.ts'
import { type FrameConnection, startFrameBackend } from '../../h2/frame-backend.ts'
import { endStream, type Frame, frameTypes } from '../../h2/frames.ts'
import { exchange, openTestUpstream, request } from '../exchange.ts'

const { NGHTTP2_NO_ERROR, NGHTTP2_ENHANCE_YOUR_CALM, NGHTTP2_INTERNAL_ERROR, NGHTTP2_REFUSED_STREAM } =
  constants
/** SETTINGS_MAX_CONCURRENT_STREAMS. */
const streamsMaxSetting = 3

/** A backend that does something with each request once it is whole; `turn` counts them over all connections. */
async function startBackend(
  t: Test,
  onRequest: (connection: FrameConnection, streamId: number, turn: number) => void,
) {
  let turn = 0
  const seen: string[] = []
  const backend = await startFrameBackend(t, {
    onFrame: (connection, { type, flags, streamId }) => {
      const isBody = type === frameTypes.data || type === frameTypes.headers
      if (!isBody || (flags & endStream) === 0) return
      seen.push(`${connection.index} ${streamId} ${connection.bodyOf(streamId)}`.trim())
      onRequest(connection, streamId, turn++)
    },
  })
  return { ...backend, seen }
}

function openHttp2(t: Test, urls: string | readonly string[], retryAttempts = 0) {
  return openTestUpstream(t, urls, { protocol: 'http2', retryAttempts })
}

const post = { method: 'POST', body: 'counted', lines: 'Content-Length: 5\r\n' } as const

t.test('a request above the last stream of a GOAWAY is repeated once at the same target', async (t) => {
  for (const code of [NGHTTP2_NO_ERROR, NGHTTP2_ENHANCE_YOUR_CALM]) {
    for (const asked of [{}, { method: 'POST' }, post]) {
      const backend = await startBackend(t, (connection, streamId, turn) => {
        if (turn === 0) connection.goaway(0, code)
        else connection.respond(streamId, 'ok')
      })
      // Not even retries of 0 forbid it: the target has not begun.
      const { call, sent, answer } = exchange(openHttp2(t, backend.url), asked)
      await sent
      if (asked === post) {
        call.write(Buffer.from('hello'))
        call.finish('')
      }
      t.equal((await answer).body, 'ok')
      const body = asked === post ? ' hello' : ''
      t.strictSame(backend.seen, [`0 1${body}`, `1 1${body}`])
    }
  }
})

t.test('a GOAWAY repeats only the requests above its last stream', async (t) => {
  const backend = await startBackend(t, (connection, streamId) => {
    if (connection.index > 0) connection.respond(streamId, 'second')
    if (connection.index > 0 || streamId < 5) return
    connection.goaway(1, NGHTTP2_NO_ERROR)
    connection.respond(1, 'first')
  })
  const upstream = openHttp2(t, backend.url)
  const answers = await Promise.all(
    ['/1', '/3', '/5'].map((path) => request(upstream, { method: 'POST', path })),
  )
  t.strictSame(
    answers.map(({ body }) => body),
    ['first', 'second', 'second'],
  )
  t.strictSame(backend.seen, ['0 1', '0 3', '0 5', '1 1', '1 3'])
})

t.test('a request that a GOAWAY leaves to be processed is never sent twice', async (t) => {
  for (const code of [NGHTTP2_NO_ERROR, NGHTTP2_ENHANCE_YOUR_CALM]) {
    const backend = await startBackend(t, (connection, streamId, turn) => {
      if (turn === 0) return connection.respond(streamId, 'ok')
      connection.goaway(streamId, code)
      connection.socket.end()
    })
    const upstream = openHttp2(t, backend.url)
    await request(upstream)
    t.equal((await exchange(upstream, { method: 'POST' }).failure).reason, 'closed-early')
    t.strictSame(backend.seen, ['0 1', '0 3'])
  }
})

t.test('a refused request goes to another target, else once more to the same', async (t) => {
  const refusing = await startBackend(t, (connection, streamId) =>
    connection.reset(streamId, NGHTTP2_REFUSED_STREAM),
  )
  const other = await startBackend(t, (connection, streamId) => connection.respond(streamId, 'other'))
  const two = openHttp2(t, [refusing.url, other.url], 1)
  t.equal((await request(two, { method: 'POST' })).body, 'other')
  t.strictSame(refusing.seen, ['0 1'])
  const single = openHttp2(t, refusing.url, 3)
  t.equal((await exchange(single, { method: 'POST' }).failure).reason, 'not-processed')
  t.strictSame(refusing.seen.slice(1), ['1 1', '1 3'])
})

t.test('what is known of a body is sent again, and the rest follows it', async (t) => {
  let hasRefused = false
  const backend = await startFrameBackend(t, {
    onFrame: (connection, { type, flags, streamId }: Frame) => {
      if (type === frameTypes.data && !hasRefused) {
        hasRefused = true
        connection.reset(streamId, NGHTTP2_REFUSED_STREAM)
      }
      if (type === frameTypes.headers && streamId === 3 && flags & endStream) {
        connection.respond(streamId, connection.bodyOf(streamId))
      }
    },
  })
  const { call, sent, answer, events } = exchange(openHttp2(t, backend.url), {
    method: 'POST',
    body: 'chunked',
    lines: 'Transfer-Encoding: chunked\r\n',
  })
  await sent
  call.write(Buffer.from('one '))
  await until('it is sent again', () => events.length === 2 || undefined)
  call.write(Buffer.from('two'))
  call.finish('x-sum: 1\r\n')
  t.equal((await answer).body, 'one two')
  t.strictSame(events, ['sent', 'sent', 'head', 'data', 'end'])
})

t.test('a request is not sent again when bytes of its body are gone', async (t) => {
  let bytes = 0
  const backend = await startFrameBackend(t, {
    // SETTINGS_INITIAL_WINDOW_SIZE.
    settings: [[4, 1_000_000]],
    onConnection: (connection) => {
      connection.socket.write(Buffer.from([0, 0, 4, 8, 0, 0, 0, 0, 0, 0, 15, 66, 64]))
    },
    onFrame: (connection, { type, streamId, payload }) => {
      if (type === frameTypes.data) bytes += payload.length
      if (bytes > 65_536) connection.reset(streamId, NGHTTP2_REFUSED_STREAM)
    },
  })
  const upstream = openHttp2(t, backend.url)
  const { call, sent, failure, events } = exchange(upstream, { ...post, lines: 'Content-Length: 70000\r\n' })
  await sent
  call.write(Buffer.alloc(65_536))
  call.write(Buffer.alloc(1))
  t.equal((await failure).reason, 'not-processed')
  t.strictSame(events, ['sent', 'not-processed'])
})

t.test('a request is not sent again after any part of an answer', async (t) => {
  const backend = await startBackend(t, (connection, streamId) => {
    connection.socket.write(Buffer.from([0, 0, 5, 1, 4, 0, 0, 0, streamId, 8, 3, 49, 48, 51]))
    connection.reset(streamId, NGHTTP2_REFUSED_STREAM)
  })
  const { failure, events } = exchange(openHttp2(t, backend.url))
  t.equal((await failure).reason, 'not-processed')
  t.strictSame(events, ['sent', '103', 'not-processed'])
  t.strictSame(backend.seen, ['0 1'])
})

t.test('a repeated request takes the place of the first among those that may be open', async (t) => {
  const backend = await startBackend(t, (connection, streamId, turn) => {
    if (turn === 0) connection.goaway(0, NGHTTP2_NO_ERROR)
    else connection.respond(streamId, 'ok')
  })
  const upstream = openTestUpstream(t, backend.url, { protocol: 'http2', connectionsMax: 1 })
  t.equal((await request(upstream, { method: 'POST' })).body, 'ok')
})

t.test('a reset of one stream costs no connection, and counts against the target', async (t) => {
  const backend = await startBackend(t, (connection, streamId, turn) => {
    if (turn === 0) connection.respond(streamId, 'ok')
    else connection.reset(streamId, NGHTTP2_INTERNAL_ERROR)
  })
  const changes: unknown[] = []
  const passive = { maxFailures: 2, windowMs: 10_000, ejectForMs: 60_000 }
  const health = { active: undefined, passive }
  const upstream = openTestUpstream(
    t,
    backend.url,
    { protocol: 'http2', health },
    { onHealthChange: (change) => changes.push(change) },
  )
  await request(upstream)
  for (const method of ['GET', 'POST'])
    t.equal((await exchange(upstream, { method }).failure).reason, 'closed-early')
  t.strictSame(backend.seen, ['0 1', '0 3', '0 5'], 'each was sent once')
  t.equal(changes.length, 1)
})

t.test('a request that needs a new connection keeps no other waiting', async (t) => {
  const backend = await startFrameBackend(t, {
    settings: undefined,
    onConnection: (connection) => {
      // The third says nothing, as one that a balancer accepts for a target that is full.
      if (connection.index < 2) connection.sendSettings([[streamsMaxSetting, 1]])
    },
    onFrame: (connection, { type, streamId }) => {
      if (type !== frameTypes.headers) return
      if (connection.index === 0 && streamId === 3) connection.goaway(0, NGHTTP2_NO_ERROR)
      else if (streamId === 3) connection.respond(streamId, 'ok')
      // At the same time, so that there are two.
      else if (connection.index === 1) for (const { respond } of backend.connections) respond(streamId, 'ok')
    },
  })
  const upstream = openHttp2(t, backend.url)
  await Promise.all([request(upstream), request(upstream)])
  const repeated = exchange(upstream)
  await until('it needs another', () => backend.connections.length === 3 || undefined)
  t.equal((await request(upstream)).body, 'ok')
  t.strictSame(repeated.events, ['sent'], 'it still waits')
  repeated.call.cancel()
})

/** How a target dies, as far as one of its connections shows it. */
const deaths: Readonly<Record<string, (connection: FrameConnection) => void>> = {
  'its connections end': ({ socket }) => void socket.end(),
  'its connections are reset': ({ socket }) => void socket.resetAndDestroy(),
}

/** Answers the first requests, then none until `die`; all of what comes on a later connection is answered. */
async function startDyingBackend(t: Test, answered: number, streamsMax: number) {
  const held: FrameConnection[] = []
  let turn = 0
  let hasDied = false
  const backend = await startFrameBackend(t, {
    settings: [[3, streamsMax]],
    onFrame: (connection, { type, streamId }) => {
      if (type !== frameTypes.headers) return
      if (hasDied && !held.includes(connection)) connection.respond(streamId, `again ${connection.index}`)
      else if (turn++ < answered) connection.respond(streamId, 'first')
      else held.push(connection)
    },
  })
  const die = (end: (connection: FrameConnection) => void) => {
    hasDied = true
    for (const connection of backend.connections) end(connection)
  }
  return { ...backend, held, die }
}

for (const [name, end] of Object.entries(deaths)) {
  t.test(`GETs in flight when a target dies are sent again at once: ${name}`, async (t) => {
    const backend = await startDyingBackend(t, 1, 100)
    const upstream = openHttp2(t, backend.url)
    await request(upstream)
    const answers = Array.from({ length: 20 }, () => request(upstream))
    await until('all are there', () => backend.held.length === 20 || undefined)
    const begin = performance.now()
    backend.die(end)
    for (const { body } of await Promise.all(answers)) t.equal(body, 'again 1')
    t.ok(performance.now() - begin < 2_500, 'before the response timeout')
  })

  t.test(`a repeated GET does not meet the next connection of a dead target: ${name}`, async (t) => {
    const backend = await startDyingBackend(t, 3, 2)
    const upstream = openHttp2(t, backend.url)
    await Promise.all([request(upstream), request(upstream), request(upstream)])
    const answers = Array.from({ length: 3 }, () => request(upstream))
    await until('all are there', () => backend.held.length === 3 || undefined)
    t.equal(backend.connections.length, 2)
    backend.die(end)
    for (const { body } of await Promise.all(answers)) t.match(body, /^again [23]$/)
  })
}
