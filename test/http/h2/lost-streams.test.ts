import { once } from 'node:events'
import { type ClientHttp2Session, type ClientHttp2Stream, constants } from 'node:http2'
import t from 'tap'
import { readMetrics } from '../../gateway/support/metrics.ts'
import { startWebSocketBackend } from '../../gateway/support/web-socket.ts'
import { startServer } from '../../setup/backend.ts'
import { startGateway } from '../../setup/gateway.ts'
import { until } from '../../setup/net.ts'
import { ask, connectHttp2 } from './ask.ts'
import {
  endHeaders,
  endStream,
  fieldBlock,
  frame,
  frameTypes,
  openRawSession,
  requestBlock,
  uint32,
} from './frames.ts'

/** How a client, or the backend, ends what is open; the backend has been asked three times and has not finished. */
const endings: Readonly<
  Record<string, (streams: readonly ClientHttp2Stream[], session: ClientHttp2Session) => void>
> = {
  'the client resets the streams': (streams) => {
    for (const stream of streams) stream.close(constants.NGHTTP2_CANCEL)
  },
  'the client loses its connection': (_streams, session) => session.socket.destroy(),
  'the client ends its connection with GOAWAY': (_streams, session) =>
    session.destroy(undefined, constants.NGHTTP2_NO_ERROR),
  'the client says GOAWAY for an error of its own': (_streams, session) =>
    session.destroy(new Error('of its own'), constants.NGHTTP2_INTERNAL_ERROR),
}

/** Nothing sent, a part of the body sent, and a part of the response received. */
const paths = ['/public/silent', '/public/silent-upload', '/public/begun'] as const

function isRequest({ msg }: { readonly msg?: unknown }): boolean {
  return msg === 'request'
}

t.test('streams that do not end in order leave nothing behind', async (t) => {
  let open = 0
  const backend = await startServer(t, (request, response) => {
    if (request.url === '/public/other') {
      response.end('served')
      return
    }
    open++
    response.on('close', () => open--)
    if (request.url === '/public/begun') response.writeHead(200).write('begun')
  })
  const gateway = await startGateway(t, { backend })
  const inFlight = async () => (await readMetrics(gateway.opsUrl)).value('gatehouse_http_requests_in_flight')
  for (const [what, end] of Object.entries(endings)) {
    const earlier = gateway.logLines.length
    const session = await connectHttp2(t, gateway.url)
    const streams = paths.map((path) => {
      const isUpload = path.endsWith('upload')
      const stream = session.request(
        { ':path': path, ':method': isUpload ? 'POST' : 'GET' },
        { endStream: !isUpload },
      )
      stream.on('error', () => {})
      if (isUpload) stream.write('a part')
      return stream
    })
    const begun = streams.at(-1)
    if (begun) await once(begun, 'response')
    await until(`${what}: the backend has all`, () => open === paths.length)
    t.equal(await inFlight(), paths.length)
    end(streams, session)
    await until(`${what}: the backend has none`, () => open === 0)
    await until(`${what}: none is counted`, async () => (await inFlight()) === 0)
    const lines = await until(`${what}: each has its line`, () => {
      const logged = gateway.logLines
        .slice(earlier)
        .map((line) => JSON.parse(line))
        .filter(isRequest)
      return logged.length === paths.length ? logged : undefined
    })
    t.strictSame(
      lines.map(({ path, status, isComplete }) => `${path} ${status} ${isComplete}`).toSorted(),
      ['/public/begun 200 false', '/public/silent 499 false', '/public/silent-upload 499 false'],
      what,
    )
  }
  const other = await connectHttp2(t, gateway.url)
  t.equal((await ask(other, '/public/other')).body, 'served')
})

t.test('a request that is reset in the read that it came in is not forwarded', async (t) => {
  const paths: (string | undefined)[] = []
  const backend = await startServer(t, (request, response) => {
    paths.push(request.url)
    response.end('ok')
  })
  const gateway = await startGateway(t, { backend })
  const request = (id: number, path: string) =>
    frame('headers', endHeaders | endStream, id, requestBlock(`/public/${path}`))
  const raw = await openRawSession(t, gateway.url)
  const cancel = frame('resetStream', 0, 1, uint32(constants.NGHTTP2_CANCEL))
  raw.socket.write(Buffer.concat([request(1, 'reset'), cancel, request(3, 'next')]))
  await until('the next is answered', () => raw.ended.includes(3))
  const broken = await openRawSession(t, gateway.url)
  broken.socket.write(Buffer.concat([request(1, 'broken'), frame('ping', 0, 0, Buffer.alloc(3))]))
  await once(broken.socket, 'close')
  raw.socket.write(request(5, 'last'))
  await until('the last is answered', () => raw.ended.includes(5))
  t.strictSame(paths, ['/public/next', '/public/last'])
})

const handshake = fieldBlock([
  [':method', 'CONNECT'],
  [':protocol', 'websocket'],
  [':scheme', 'http'],
  [':path', '/ws'],
  [':authority', 'a'],
  ['sec-websocket-version', '13'],
])

/** How a client abandons its stream: a reset has any code, also that of an orderly end. */
const resets: Readonly<Record<string, (id: number) => readonly Buffer[]>> = {
  CANCEL: (id) => [frame('resetStream', 0, id, uint32(constants.NGHTTP2_CANCEL))],
  NO_ERROR: (id) => [frame('resetStream', 0, id, uint32(constants.NGHTTP2_NO_ERROR))],
  'NO_ERROR after its end': (id) => [
    frame('data', endStream, id),
    frame('resetStream', 0, id, uint32(constants.NGHTTP2_NO_ERROR)),
  ],
}

t.test('a WebSocket ends for its backend when the client resets its stream', async (t) => {
  const backend = await startWebSocketBackend(t)
  const routes = [{ name: 'ws', path: '/ws', upstream: 'backend', auth: 'none', websocket: true }]
  const gateway = await startGateway(t, { backend: backend.url, config: { routes } })
  const { socket, received } = await openRawSession(t, gateway.url)
  const open = async () => (await readMetrics(gateway.opsUrl)).value('gatehouse_websockets_open')
  let closed = 0
  for (const [index, [code, reset]] of Object.entries(resets).entries()) {
    const id = 2 * index + 1
    socket.write(frame('headers', endHeaders, id, handshake))
    await until(`${code}: it is accepted`, () => received.get(frameTypes.headers) === index + 1)
    await until(`${code}: it is open`, async () => (await open()) === 1)
    backend.sockets[index]?.on('close', () => closed++)
    socket.write(Buffer.concat(reset(id)))
    // Sooner than a side that reads nothing is given up.
    await until(`${code}: the backend has closed it`, () => closed === index + 1, 10_000)
    await until(`${code}: none is counted`, async () => (await open()) === 0, 10_000)
  }
})
