import t, { type Test } from 'tap'
import { startBackend } from '../../../setup/backend.ts'
import { until } from '../../../setup/net.ts'
import { type FrameConnection, startFrameBackend } from '../../h2/frame-backend.ts'
import { frameTypes } from '../../h2/frames.ts'
import { exchange, openTestUpstream, request } from '../exchange.ts'

/** SETTINGS_MAX_CONCURRENT_STREAMS. */
const maxConcurrentStreams = 3

interface OpenRequest {
  readonly connection: FrameConnection
  readonly streamId: number
}

interface LimitedOptions {
  /** When the first SETTINGS of a connection are sent; default: at once. */
  readonly settings?: (connection: FrameConnection) => void
  readonly onRequest?: (open: OpenRequest) => void
}

/** A backend that allows so many requests on a connection, and counts how many there were at a time. */
async function startLimited(t: Test, limit: number, options: LimitedOptions = {}) {
  const open: OpenRequest[] = []
  let mostOnOne = 0
  let most = 0
  const close = (connection: FrameConnection, streamId: number) => {
    const at = open.findIndex((one) => one.connection === connection && one.streamId === streamId)
    if (at !== -1) open.splice(at, 1)
  }
  const backend = await startFrameBackend(t, {
    settings: undefined,
    onConnection:
      options.settings ?? ((connection) => connection.sendSettings([[maxConcurrentStreams, limit]])),
    onFrame: (connection, { type, streamId }) => {
      if (type === frameTypes.resetStream) close(connection, streamId)
      if (type !== frameTypes.headers) return
      const opened = { connection, streamId }
      open.push(opened)
      most = Math.max(most, open.length)
      mostOnOne = Math.max(mostOnOne, open.filter((one) => one.connection === connection).length)
      options.onRequest?.(opened)
    },
  })
  const respond = ({ connection, streamId }: OpenRequest) => {
    close(connection, streamId)
    connection.respond(streamId, 'ok')
  }
  return { ...backend, open, respond, mostOnOne: () => mostOnOne, most: () => most }
}

const http2 = { protocol: 'http2' } as const

t.test('many requests at once keep to the limit that the target tells only later', async (t) => {
  const backend = await startLimited(t, 2, {
    // Not before all requests wait for it.
    settings: (connection) => setImmediate(() => connection.sendSettings([[maxConcurrentStreams, 2]])),
    onRequest: () => {
      if (backend.open.length === 20) for (const one of [...backend.open]) backend.respond(one)
    },
  })
  const upstream = openTestUpstream(t, backend.url, http2)
  const answers = await Promise.all(Array.from({ length: 20 }, () => request(upstream, { method: 'POST' })))
  t.ok(answers.every(({ body }) => body === 'ok'))
  t.equal(backend.mostOnOne(), 2)
  t.equal(backend.connections.length, 10)
})

t.test('no request is sent before the target has told its limit', async (t) => {
  const backend = await startLimited(t, 100, { settings: () => {}, onRequest: (one) => backend.respond(one) })
  const upstream = openTestUpstream(t, backend.url, http2)
  const answer = request(upstream)
  const connection = await until('it is connected', () => backend.connections[0])
  // WINDOW_UPDATE of the connection follows the gateway's own SETTINGS.
  await until('it has said all', () => connection.frames[0])
  t.strictSame(
    connection.frames.map(({ type }) => type),
    [frameTypes.windowUpdate],
  )
  connection.sendSettings([])
  t.equal((await answer).body, 'ok')
})

t.test('a limit that is lowered later holds from then on', async (t) => {
  let hasLowered = false
  const backend = await startLimited(t, 10, { onRequest: (one) => hasLowered && backend.respond(one) })
  const upstream = openTestUpstream(t, backend.url, http2)
  const first = request(upstream)
  const opened = await until('it is asked', () => backend.open[0])
  opened.connection.sendSettings([[maxConcurrentStreams, 1]])
  backend.respond(opened)
  await first
  hasLowered = true
  await Promise.all(Array.from({ length: 10 }, () => request(upstream)))
  t.equal(backend.mostOnOne(), 1)
})

t.test('requests that take the place of cancelled ones keep to the limit', async (t) => {
  let turn = 0
  const backend = await startLimited(t, 2, {
    onRequest: (one) => {
      if (turn++ % 3 === 2) backend.respond(one)
    },
  })
  const upstream = openTestUpstream(t, backend.url, { ...http2, connectionsMax: 2 })
  for (let round = 0; round < 20; round++) {
    const cancelled = [exchange(upstream), exchange(upstream)]
    await until('both have arrived', () => backend.open.length === 2 || undefined)
    for (const { call } of cancelled) call.cancel()
    await request(upstream)
  }
  t.equal(backend.mostOnOne(), 2)
  t.ok(backend.connections.length <= 2, `${backend.connections.length} connections`)
})

t.test('connections bounds requests and connections of HTTP/2; more requests wait', async (t) => {
  const backend = await startLimited(t, 2, {
    onRequest: () => {
      if (backend.open.length === 4) for (const one of [...backend.open]) backend.respond(one)
    },
  })
  const upstream = openTestUpstream(t, backend.url, { ...http2, connectionsMax: 4 })
  await Promise.all(Array.from({ length: 20 }, () => request(upstream)))
  t.equal(backend.most(), 4)
  t.ok(backend.connections.length <= 4, `${backend.connections.length} connections`)
})

t.test('a request that waits for a new connection takes a place that becomes free before', async (t) => {
  const backend = await startLimited(t, 1, {
    settings: (connection) => {
      if (connection.index === 0) connection.sendSettings([[maxConcurrentStreams, 1]])
    },
  })
  const upstream = openTestUpstream(t, backend.url, http2)
  const first = request(upstream)
  const opened = await until('it is asked', () => backend.open[0])
  const second = request(upstream)
  await until('there is a second connection', () => backend.connections[1])
  backend.respond(opened)
  backend.respond(await until('it is asked again', () => backend.open[0]))
  t.strictSame([(await first).body, (await second).body], ['ok', 'ok'])
  t.strictSame(
    backend.connections[1]?.frames.filter(({ type }) => type === frameTypes.headers),
    [],
  )
})

t.test('a target that allows no request yet gets none until it does', async (t) => {
  const backend = await startLimited(t, 0, { onRequest: (one) => backend.respond(one) })
  const upstream = openTestUpstream(t, backend.url, http2)
  const answer = request(upstream)
  const connection = await until(
    'it is connected',
    () => backend.connections[0]?.frames[0] && backend.connections[0],
  )
  connection.sendSettings([[maxConcurrentStreams, 1]])
  t.equal((await answer).body, 'ok')
  t.equal(backend.connections.length, 1)
})

t.test('a target that never takes requests of HTTP/2 is not sent them: another one is', async (t) => {
  const silent = await startLimited(t, 0, { settings: () => {} })
  const closed = await startLimited(t, 0)
  const http1 = await startBackend(t)
  const good = await startLimited(t, 10, { onRequest: (one) => good.respond(one) })
  const all = [
    [silent.url, 'connect-timeout'],
    [closed.url, 'connect-timeout'],
    [http1.url, 'connect-failed'],
  ] as const
  const ask = async ([url, reason]: (typeof all)[number]) => {
    const terms = { ...http2, connectTimeoutMs: 1_000 }
    t.equal((await exchange(openTestUpstream(t, url, terms)).failure).reason, reason)
    const two = openTestUpstream(t, [url, good.url], { ...terms, retryAttempts: 1 })
    t.equal((await request(two, { method: 'POST' })).body, 'ok')
  }
  await Promise.all(all.map(ask))
  t.equal(http1.seen.length, 0)
})

t.test('a request that is cancelled before its connection is ready closes it', async (t) => {
  const backend = await startLimited(t, 1, { settings: () => {} })
  const { call } = exchange(openTestUpstream(t, backend.url, http2))
  const connection = await until('it is connected', () => backend.connections[0])
  call.cancel()
  await until('it is closed', () => connection.socket.destroyed || undefined)
  t.pass()
})

t.test('an upstream that is closed completes its requests, and then closes its connections', async (t) => {
  const backend = await startLimited(t, 1)
  const upstream = openTestUpstream(t, backend.url, http2)
  const answers = [request(upstream), request(upstream)]
  const [first, second] = await until('both are asked', () =>
    backend.open.length === 2 ? [...backend.open] : undefined,
  )
  upstream.close()
  if (first) backend.respond(first)
  await answers[0]
  await until('it is closed', () => backend.connections.some(({ socket }) => socket.destroyed) || undefined)
  if (second) backend.respond(second)
  for (const { head } of await Promise.all(answers)) t.equal(head.status, 200)
  await until(
    'all are closed',
    () => backend.connections.every(({ socket }) => socket.destroyed) || undefined,
  )
})
