import { once } from 'node:events'
import t, { type Test } from 'tap'
import { startBackend, startCannedBackend } from '../../setup/backend.ts'
import { startGateway } from '../../setup/gateway.ts'
import { until } from '../../setup/net.ts'
import { connectRaw } from '../../setup/raw-client.ts'
import { ask, connectHttp2, startStreamBackend } from './ask.ts'

/** A gateway before a backend that says the length of its response, and sends trailers after it. */
async function start(t: Test, body: string, route: object = {}) {
  const backend = await startStreamBackend(t, (stream) => {
    const fields = {
      ':status': 200,
      'content-length': 5,
      'content-type': 'application/grpc',
      trailer: 'x-sum',
    }
    stream.respond(fields, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers({ 'x-sum': '1', 'grpc-status': '5' }))
    if (body.length === 5) stream.end(body)
    else stream.write(body)
  })
  const gateway = await startGateway(t, {
    config: {
      upstreams: { backend: { targets: [{ url: backend.url }], protocol: 'http2' } },
      routes: [{ name: 'all', path: '/', upstream: 'backend', auth: 'none', ...route }],
    },
  })
  return { gateway, session: await connectHttp2(t, gateway.url) }
}

t.test('trailers after a response with a length reach a client of HTTP/2', async (t) => {
  const { session } = await start(t, 'hello')
  const { headers, body, trailers } = await ask(session, '/x')
  t.match(headers, { 'content-length': '5', trailer: 'x-sum' })
  t.strictSame([body, trailers], ['hello', { 'x-sum': '1', 'grpc-status': '5' }])
  const head = await ask(session, '/x', { headers: { ':method': 'HEAD' } })
  t.equal(head.headers['content-length'], '5')
  t.notOk('trailer' in head.headers, 'none follow after a HEAD')
})

t.test('a client of HTTP/1.1 gets such a response without them', async (t) => {
  const { gateway } = await start(t, 'hello')
  const client = await connectRaw(t, gateway.url)
  for (let turn = 0; turn < 2; turn++) {
    client.send('GET /x HTTP/1.1\r\nHost: a\r\nTE: trailers\r\n\r\n')
    const { headers, body } = await client.response()
    t.strictSame([headers['content-length'], headers.trailer, body], ['5', undefined, 'hello'])
  }
})

t.test('no trailers are announced of a target of HTTP/1.1 that says a length', async (t) => {
  const backend = await startCannedBackend(
    t,
    'HTTP/1.1 200 OK\r\nTrailer: X-Sum\r\nContent-Length: 2\r\n\r\nok',
  )
  const gateway = await startGateway(t, { backend })
  const session = await connectHttp2(t, gateway.url)
  const { headers, body } = await ask(session, '/public/x', {
    headers: { ':method': 'POST' },
    body: 'a',
  })
  t.strictSame([headers['content-length'], headers.trailer, body], ['2', undefined, 'ok'])
})

t.test('a call that is revoked before the length of its response has come is reset', async (t) => {
  const { gateway, session } = await start(t, 'he', { auth: 'any' })
  const { account, secretKey: secretkey } = await gateway.createAccount()
  const headers = { ':method': 'POST', 'content-type': 'application/grpc', secretkey }
  const stream = session.request({ ':path': '/shop.Orders/List', ...headers }, { endStream: true })
  let hasTrailers = false
  stream.on('trailers', () => {
    hasTrailers = true
  })
  stream.on('error', () => {})
  t.equal(String(await once(stream, 'data')), 'he')
  await gateway.operate(({ defaultKeys }) => defaultKeys.resetSecretKey(account.id, 0))
  await until('it has ended', () => stream.destroyed)
  t.not(stream.rstCode, 0)
  t.notOk(hasTrailers, 'it does not look complete')
})

t.test('trailers after a request with a length reach a backend of HTTP/2 only', async (t) => {
  const http1 = await startBackend(t)
  const received: (readonly string[])[] = []
  const http2 = await startStreamBackend(t, (stream) => {
    stream.on('trailers', (_fields, _flags, raw: readonly string[]) => received.push(raw))
    stream.on('end', () => stream.respond({ ':status': 200 }, { endStream: true })).resume()
  })
  const route = { auth: 'none', trailers: 'pass' }
  const gateway = await startGateway(t, {
    config: {
      upstreams: {
        http1: { targets: [{ url: http1.url }] },
        http2: { targets: [{ url: http2.url }], protocol: 'http2' },
      },
      routes: [
        { name: 'http1', path: '/http1', upstream: 'http1', ...route },
        { name: 'http2', path: '/http2', upstream: 'http2', ...route },
      ],
    },
  })
  const session = await connectHttp2(t, gateway.url)
  const headers = { ':method': 'POST', 'content-length': 5 }
  const asked = { headers, body: 'hello', trailers: { 'x-sum': '1' } }
  for (const path of ['/http1', '/http2']) t.equal((await ask(session, path, asked)).status, 200)
  t.strictSame([http1.last().body, { ...http1.last().trailers }], ['hello', {}])
  t.strictSame(received, [['x-sum', '1']])
})
