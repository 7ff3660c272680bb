import { once } from 'node:events'
import { constants, type ServerHttp2Stream } from 'node:http2'
import t, { type Test } from 'tap'
import { startGateway } from '../../setup/gateway.ts'
import { until } from '../../setup/net.ts'
import { connectRaw } from '../../setup/raw-client.ts'
import { ask, codeOf, connectHttp2, startStreamBackend } from './ask.ts'
import { startFrameBackend } from './frame-backend.ts'
import { endHeaders, frame, frameTypes, uint32 } from './frames.ts'

const largeBytes = 8 * 1024 * 1024

function fieldOf(raw: readonly string[], name: string): string | undefined {
  return raw[raw.indexOf(name) + 1]
}

async function readAll(stream: ServerHttp2Stream): Promise<number> {
  let bytes = 0
  for await (const chunk of stream) bytes += (chunk as Buffer).length
  return bytes
}

/** What the backend does, by path. */
async function answer(stream: ServerHttp2Stream, raw: readonly string[]): Promise<void> {
  switch (fieldOf(raw, ':path')) {
    case '/any/large':
      stream.respond({ ':status': 200 })
      stream.end(Buffer.alloc(largeBytes, 'x'))
      return
    case '/any/refused':
      stream.close(constants.NGHTTP2_REFUSED_STREAM)
      return
    case '/any/broken':
      // With trailers to come, as node:http2 would else end the body before the reset.
      stream.respond({ ':status': 200 }, { waitForTrailers: true })
      stream.write('begun')
      setImmediate(() => stream.close(constants.NGHTTP2_INTERNAL_ERROR))
      return
    case '/any/silent':
      return
    case '/any/continue':
      stream.additionalHeaders({ ':status': 100 })
      stream.respond({ ':status': 200 })
      stream.end(String(await readAll(stream)))
      return
    case '/any/talk':
      stream.respond({ ':status': 200, 'content-type': 'text/event-stream' })
      stream.pipe(stream)
      return
    case '/any/early':
      stream.additionalHeaders({ ':status': 103, link: '</a.css>' })
      stream.respond({ ':status': 204 }, { endStream: true })
      return
    default: {
      let trailers: readonly string[] = []
      stream.on('trailers', (_fields, _flags, received: readonly string[]) => {
        trailers = received
      })
      const bytes = await readAll(stream)
      stream.respond({ ':status': 200, 'content-type': 'application/json' }, { waitForTrailers: true })
      stream.on('wantTrailers', () => stream.sendTrailers({ 'x-sum': '1' }))
      stream.end(JSON.stringify({ raw, bytes, trailers }))
    }
  }
}

async function start(t: Test, upstream: object = {}, route: object = {}) {
  const backend = await startStreamBackend(t, (stream, raw) => void answer(stream, raw))
  const gateway = await startGateway(t, {
    config: {
      upstreams: { backend: { targets: [{ url: backend.url }], protocol: 'http2', ...upstream } },
      routes: [{ name: 'any', path: '/any', upstream: 'backend', auth: 'any', ...route }],
    },
  })
  const account = await gateway.createAccount()
  const session = await connectHttp2(t, gateway.url)
  return { backend, gateway, account, secretkey: account.secretKey, session }
}

t.test('a backend of HTTP/2 gets the same request as one of HTTP/1.1', async (t) => {
  const { session, secretkey, account, gateway } = await start(t, {}, { trailers: 'pass' })
  const headers = { secretkey, ':method': 'POST', te: 'trailers', cookie: ['a=1', 'b=2'] }
  const response = await ask(session, '/any/x?q', { headers, body: 'abc', trailers: { 'x-end': '2' } })
  const { raw, bytes, trailers } = JSON.parse(response.body)
  t.strictSame([response.status, bytes, trailers], [200, 3, ['x-end', '2']])
  t.strictSame(response.trailers, { 'x-sum': '1' })
  t.strictSame(raw.slice(0, 8), [
    ...[':method', 'POST', ':path', '/any/x?q', ':scheme', 'http', ':authority'],
    new URL(gateway.url).host,
  ])
  t.strictSame(
    ['te', 'cookie', 'x-user-id', 'x-forwarded-for'].map((name) => fieldOf(raw, name)),
    ['trailers', 'a=1; b=2', account.account.id, '127.0.0.1'],
  )
  for (const name of ['secretkey', 'connection', 'transfer-encoding', 'host'])
    t.notOk(raw.includes(name), name)
})

t.test('a client of HTTP/1.1 reaches it too, with trailers both ways', async (t) => {
  const { gateway, secretkey } = await start(t)
  const init = { method: 'POST', headers: { SecretKey: secretkey }, body: 'x'.repeat(500_000) }
  const response = await fetch(`${gateway.url}/any/x`, init)
  t.equal(response.status, 200)
  t.equal(((await response.json()) as { bytes: number }).bytes, 500_000)
  const large = await fetch(`${gateway.url}/any/large`, { headers: { SecretKey: secretkey } })
  t.equal((await large.arrayBuffer()).byteLength, largeBytes)
  const early = await fetch(`${gateway.url}/any/early`, { headers: { SecretKey: secretkey } })
  t.equal(early.status, 204)
})

t.test('interim responses pass, also to those who wait for one with their body', async (t) => {
  const { session, secretkey } = await start(t)
  t.strictSame((await ask(session, '/any/early', { headers: { secretkey } })).informational, [103])
  const stream = session.request({
    ':path': '/any/continue',
    ':method': 'POST',
    expect: '100-continue',
    secretkey,
  })
  await once(stream, 'continue')
  stream.end('abc')
  t.equal(String(await once(stream, 'data')), '3')
})

t.test('the head of a response does not wait for its body, nor for the end of the request', async (t) => {
  const { session, gateway, secretkey } = await start(t)
  const stream = session.request({ ':path': '/any/talk', ':method': 'POST', secretkey })
  await once(stream, 'response')
  stream.end('abc')
  t.equal(String(await once(stream, 'data')), 'abc')
  const client = await connectRaw(t, gateway.url)
  client.send(`POST /any/talk HTTP/1.1\r\nHost: x\r\nSecretKey: ${secretkey}\r\nContent-Length: 3\r\n\r\n`)
  t.match(await client.readUntil('\r\n\r\n'), 'text/event-stream')
  client.send('abc')
  t.equal((await client.readUntil('0\r\n\r\n')).slice(0, 8), '3\r\nabc\r\n')
})

t.test('a response that fails together with its head is a 502', async (t) => {
  const backend = await startFrameBackend(t, {
    onFrame: ({ socket }, { type, streamId }) => {
      if (type !== frameTypes.headers) return
      const head = frame('headers', endHeaders, streamId, Buffer.from([0x88]))
      socket.write(
        Buffer.concat([head, frame('resetStream', 0, streamId, uint32(constants.NGHTTP2_INTERNAL_ERROR))]),
      )
    },
  })
  const gateway = await startGateway(t, {
    config: {
      upstreams: { backend: { targets: [{ url: backend.url }], protocol: 'http2' } },
      routes: [{ name: 'any', path: '/any', upstream: 'backend', auth: 'none' }],
    },
  })
  const session = await connectHttp2(t, gateway.url)
  t.equal((await ask(session, '/any')).status, 502)
  t.equal((await fetch(`${gateway.url}/any`)).status, 502)
})

t.test('many requests share few connections', async (t) => {
  const { backend, session, secretkey } = await start(t)
  const answers = await Promise.all(
    Array.from({ length: 500 }, (_, index) => ask(session, `/any/${index}`, { headers: { secretkey } })),
  )
  const crossed = answers.filter(({ body }, index) => !body.includes(`"/any/${index}"`))
  t.strictSame(crossed, [])
  t.ok(backend.connections() <= 3, `${backend.connections()} connections`)
})

t.test(
  'a request that is refused once is answered, with its body, for clients of both versions',
  async (t) => {
    const seen: string[] = []
    const backend = await startStreamBackend(t, (stream, raw) => {
      const path = fieldOf(raw, ':path') ?? ''
      seen.push(path)
      if (seen.indexOf(path) === seen.length - 1)
        stream.once('data', () => stream.close(constants.NGHTTP2_REFUSED_STREAM))
      else
        void readAll(stream).then((bytes) => stream.respond({ ':status': 200 }) ?? stream.end(String(bytes)))
    })
    const upstreams = { backend: { targets: [{ url: backend.url }], protocol: 'http2' } }
    const gateway = await startGateway(t, { config: { upstreams } })
    const { secretKey: secretkey } = await gateway.createAccount()
    const session = await connectHttp2(t, gateway.url)
    for (const bytes of [5, 3_000, 60_000]) {
      const body = 'x'.repeat(bytes)
      const byHttp2 = await ask(session, `/any/2-${bytes}`, {
        headers: { secretkey, ':method': 'POST' },
        body,
      })
      const byHttp1 = await fetch(`${gateway.url}/any/1-${bytes}`, {
        method: 'POST',
        headers: { secretkey },
        body,
      })
      t.strictSame([byHttp2.body, await byHttp1.text()], [String(bytes), String(bytes)])
    }
    t.equal(seen.length, 12)
  },
)

t.test('failures are those of HTTP/1.1', async (t) => {
  const upstream = { timeouts: { response: '1s' }, health: { passive: { maxFailures: 100 } } }
  const { backend, session, secretkey } = await start(t, upstream)
  const headers = { secretkey }
  for (const [path, expected] of [
    ['/any/refused', '502 upstream-unreachable'],
    ['/any/silent', '504 upstream-timeout'],
  ] as const) {
    const failed = await ask(session, path, { headers })
    t.equal(`${failed.status} ${codeOf(failed)}`, expected)
  }
  const broken = await ask(session, '/any/broken', { headers })
  t.strictSame(
    [broken.status, broken.resetCode],
    [200, constants.NGHTTP2_INTERNAL_ERROR],
    'not taken for whole',
  )
  t.equal((await ask(session, '/any/x', { headers })).status, 200)
  t.equal(backend.connections(), 1, 'a failed request costs no other its connection')
})

t.test('a client that goes away cancels its request, and no other', async (t) => {
  const codes: number[] = []
  const backend = await startStreamBackend(t, (stream, raw) => {
    if (fieldOf(raw, ':path') === '/any/x') stream.on('close', () => codes.push(stream.rstCode ?? -1))
    stream.respond({ ':status': 200 })
    stream.write('begun')
    if (fieldOf(raw, ':path') !== '/any/x') stream.end()
  })
  const upstreams = { backend: { targets: [{ url: backend.url }], protocol: 'http2' } }
  const gateway = await startGateway(t, { config: { upstreams } })
  const { secretKey: secretkey } = await gateway.createAccount()
  const session = await connectHttp2(t, gateway.url)
  const stream = session.request({ ':path': '/any/x', secretkey })
  await once(stream, 'response')
  stream.close(constants.NGHTTP2_CANCEL)
  await until('it is cancelled', () => codes.length === 1)
  t.strictSame(codes, [constants.NGHTTP2_CANCEL])
  t.equal((await ask(session, '/any/y', { headers: { secretkey } })).status, 200)
  t.equal(backend.connections(), 1)
})

t.test('a target that says GOAWAY gets no more requests on that connection, and fails none', async (t) => {
  let count = 0
  const backend = await startStreamBackend(t, (stream) => {
    stream.respond({ ':status': 200 })
    stream.end('ok')
    if (++count % 10 === 0) stream.session?.close()
  })
  const upstreams = { backend: { targets: [{ url: backend.url }], protocol: 'http2' } }
  const gateway = await startGateway(t, { config: { upstreams } })
  const { secretKey: secretkey } = await gateway.createAccount()
  const session = await connectHttp2(t, gateway.url)
  const statuses = new Map<number, number>()
  for (let round = 0; round < 20; round++) {
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => ask(session, '/any/x', { headers: { secretkey } })),
    )
    for (const { status } of answers) statuses.set(status, (statuses.get(status) ?? 0) + 1)
  }
  t.strictSame([...statuses], [[200, 200]])
  t.ok(backend.connections() > 1)
})

t.test('a health check speaks it too', async (t) => {
  const paths: (string | undefined)[] = []
  const backend = await startStreamBackend(t, (stream, raw) => {
    paths.push(fieldOf(raw, ':path'))
    stream.respond({ ':status': 500 }, { endStream: true })
  })
  const health = { active: { path: '/healthz', interval: '100ms', timeout: '1s', unhealthyAfter: 1 } }
  const gateway = await startGateway(t, {
    config: { upstreams: { backend: { targets: [{ url: backend.url }], protocol: 'http2', health } } },
  })
  const { secretKey: secretkey } = await gateway.createAccount()
  const session = await connectHttp2(t, gateway.url)
  await until('it is unhealthy', async () => {
    return codeOf(await ask(session, '/any/x', { headers: { secretkey } })) === 'upstream-unavailable'
  })
  t.ok(paths.includes('/healthz'))
})

t.test('an answer of a backend has the usual reason phrase of its status over HTTP/1.1', async (t) => {
  const backend = await startStreamBackend(t, (stream, raw) => {
    stream.additionalHeaders({ ':status': 103 })
    stream.respond({ ':status': Number(fieldOf(raw, ':path')?.slice(-3)) }, { endStream: true })
  })
  const gateway = await startGateway(t, {
    config: { upstreams: { backend: { targets: [{ url: backend.url }], protocol: 'http2' } } },
  })
  const client = await connectRaw(t, gateway.url)
  const phrases = { 200: 'OK', 204: 'No Content', 404: 'Not Found', 418: "I'm a Teapot", 299: '', 599: '' }
  for (const [status, phrase] of Object.entries(phrases)) {
    client.send(`HEAD /public/${status} HTTP/1.1\r\nHost: x\r\n\r\n`)
    const lines = [(await client.response()).head, (await client.response(true)).head]
    t.strictSame(
      lines.map((head) => head.split('\r\n')[0]),
      ['HTTP/1.1 103 Early Hints', `HTTP/1.1 ${status} ${phrase}`],
    )
  }
})
