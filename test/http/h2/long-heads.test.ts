import t from 'tap'
import { startServer } from '../../setup/backend.ts'
import { startGateway } from '../../setup/gateway.ts'
import { until } from '../../setup/net.ts'
import { ask, connectHttp2, startStreamBackend } from './ask.ts'
import { endHeaders, endStream, frame, frameTypes, openRawSession, requestBlock } from './frames.ts'

const frameBytes = 16_384
/** Of one field, so that heads are a little shorter than one, two and three frames, just as long, and longer. */
const lengths = [1, 2, 3].flatMap((frames) =>
  Array.from({ length: 40 }, (_, index) => frames * frameBytes - 390 + 10 * index),
)

t.test('heads of responses arrive whole, whatever number of frames they take', async (t) => {
  const backend = await startServer(t, (request, response) => {
    const length = Number(request.url?.replace('/public/', ''))
    response.writeHead(200, { 'X-Long': 'v'.repeat(length) }).end('body')
  })
  const gateway = await startGateway(t, { backend })
  const session = await connectHttp2(t, gateway.url)
  const raw = await openRawSession(t, gateway.url)
  for (const length of lengths) {
    const { headers, body } = await ask(session, `/public/${length}`)
    if (headers['x-long']?.length !== length || body !== 'body') t.fail(`a head of ${length}`)
  }
  raw.socket.write(frame('headers', endHeaders | endStream, 1, requestBlock('/public/40000')))
  await until('the answer', () => raw.ended.includes(1))
  const sizes = raw.frames.filter(
    ({ type }) => type === frameTypes.headers || type === frameTypes.continuation,
  )
  t.strictSame(
    sizes.map(({ type, flags, payload }) => [type, flags, payload.length === frameBytes]),
    [
      [frameTypes.headers, 0, true],
      [frameTypes.continuation, 0, true],
      [frameTypes.continuation, endHeaders, false],
    ],
  )
})

t.test(
  'heads of requests and trailers pass whole to and from a target of HTTP/2, whatever number of frames they take',
  async (t) => {
    const backend = await startStreamBackend(t, (stream, raw) => {
      const length = raw[raw.indexOf('x-long') + 1]?.length
      stream.respond({ ':status': 200 }, { waitForTrailers: true })
      stream.on('wantTrailers', () => stream.sendTrailers({ 'x-sum': 's'.repeat(Number(length)) }))
      stream.end(String(length))
    })
    const config = {
      limits: { headers: '60KiB' },
      upstreams: { backend: { targets: [{ url: backend.url }], protocol: 'http2' } },
      routes: [{ name: 'public', path: '/public', upstream: 'backend', auth: 'none', trailers: 'pass' }],
    }
    const gateway = await startGateway(t, { config })
    const session = await connectHttp2(t, gateway.url)
    for (const length of lengths) {
      const headers = { 'x-long': 'v'.repeat(length), te: 'trailers' }
      const { body, trailers } = await ask(session, '/public/x', { headers })
      if (body !== String(length)) t.fail(`${length}: ${body}`)
      if (trailers['x-sum']?.length !== length) t.fail(`trailers of ${length}: ${trailers['x-sum']?.length}`)
    }
    t.equal(backend.connections(), 1)
  },
)
