import { once } from 'node:events'
import { connect as connectTls } from 'node:tls'
import t, { type Test } from 'tap'
import { readMetrics } from '../../gateway/support/metrics.ts'
import { startRawBackend } from '../../setup/backend.ts'
import { startBoth } from '../../setup/both.ts'
import { makeCertificate } from '../../setup/certificates.ts'
import { startGateway } from '../../setup/gateway.ts'
import { until } from '../../setup/net.ts'
import { connectRaw } from '../../setup/raw-client.ts'
import { type Asked, ask, codeOf, connectHttp2 } from './ask.ts'

/** What a backend answers, by path. */
const largeBytes = 8 * 1024 * 1024

async function start(t: Test, config = {}) {
  const { backend, gateway } = await startBoth(t, {
    answer: (request, response, { body }) => {
      const path = request.url?.replace('/any', '')
      if (path === '/large')
        response.writeHead(200, { 'Content-Length': largeBytes }).end(Buffer.alloc(largeBytes, 'x'))
      else if (path === '/none') response.writeHead(204).end()
      else if (path === '/early') {
        response.writeEarlyHints({ link: '</a.css>; rel=preload' })
        response.end('after')
      } else if (path === '/trailers') {
        response.writeHead(200, { Trailer: 'X-Sum', Connection: 'close', 'Keep-Alive': 'timeout=1' })
        response.write('a')
        response.addTrailers({ 'X-Sum': '1' })
        response.end('b')
      } else response.end(`${request.method} ${request.url} ${body.length}`)
    },
    config,
  })
  const account = await gateway.createAccount()
  const secretkey = account.secretKey
  return { backend, gateway, account, secretkey, session: await connectHttp2(t, gateway.url) }
}

t.test('a client that begins with HTTP/2 is decided about like any other', async (t) => {
  const { backend, gateway, account, session, secretkey } = await start(t)
  const asked: readonly [Asked['headers'], string][] = [
    [{}, '401 credentials-missing'],
    [{ secretkey: `${secretkey}x` }, '401 secret-key-invalid'],
    [{ secretkey, authorization: 'Bearer a.b.c' }, '400 credentials-ambiguous'],
    [{ secretkey: [secretkey, secretkey] }, '400 credentials-ambiguous'],
    [{ secretkey, ':authority': 'a.example.com', host: 'b.example.com' }, '400 request-invalid'],
    [{ secretkey, ':path': '/any/../x' }, '400 path-ambiguous'],
    [{ secretkey, ':path': '/any/a b' }, '400 request-invalid'],
    [{ secretkey, ':path': 'any/x' }, '400 request-invalid'],
    [{ secretkey, ':method': 'TRACE' }, '405 method-not-allowed'],
    [{ secretkey, 'x-pad': 'x'.repeat(17_000) }, '431 headers-too-large'],
  ]
  for (const [headers, expected] of asked) {
    const answer = await ask(session, '/any/x', { headers: { ...headers } })
    t.equal(`${answer.status} ${codeOf(answer)}`, expected, JSON.stringify(headers).slice(0, 80))
    t.match(answer.headers['x-request-id'], /./)
  }
  t.equal(backend.seen.length, 0)
  const malformed = await ask(session, '/any/a b')
  t.equal(JSON.parse(malformed.body).detail, 'This is not a well-formed HTTP request.')
  const headers = {
    secretkey,
    cookie: ['a=1', 'b=2'],
    'x-user-id': 'spoofed',
    x_user_role: 'Admin',
    te: 'trailers',
    'x-forwarded-for': '6.6.6.6',
  }
  const answer = await ask(session, '/any/x?q=%C3%A9', { headers })
  t.strictSame([answer.status, answer.body], [200, 'GET /any/x?q=%C3%A9 0'])
  const { url, headers: seen } = backend.last()
  t.equal(url, '/any/x?q=%C3%A9')
  t.match(seen, {
    host: new URL(gateway.url).host,
    cookie: 'a=1; b=2',
    te: 'trailers',
    'x-user-role': 'User',
  })
  t.strictSame(
    [seen['x-user-id'], seen['x-forwarded-for'], seen.secretkey],
    [account.account.id, '127.0.0.1', undefined],
  )
  t.strictSame([seen.x_user_role, seen.connection], [undefined, 'TE'])
})

t.test('bodies, statuses and fields pass as they are', async (t) => {
  const { session, secretkey } = await start(t)
  const headers = { secretkey }
  const large = await ask(session, '/any/large', { headers })
  t.strictSame([large.status, large.body.length, large.resetCode], [200, largeBytes, 0])
  const post = { headers: { ...headers, ':method': 'POST' }, body: Buffer.alloc(3_000_000) }
  t.equal((await ask(session, '/any/post', post)).body, 'POST /any/post 3000000')
  const none = await ask(session, '/any/none', { headers })
  t.strictSame([none.status, none.body], [204, ''])
  const head = await ask(session, '/any/large', { headers: { ...headers, ':method': 'HEAD' } })
  t.strictSame([head.status, head.headers['content-length'], head.body], [200, String(largeBytes), ''])
  const early = await ask(session, '/any/early', { headers })
  t.strictSame([early.informational, early.body], [[103], 'after'])
  const trailers = await ask(session, '/any/trailers', { headers: { ...headers, te: 'trailers' } })
  t.strictSame([trailers.body, trailers.trailers], ['ab', { 'x-sum': '1' }])
  for (const name of ['connection', 'keep-alive', 'transfer-encoding'])
    t.notOk(name in trailers.headers, `${name} stays behind`)
  const expecting = { ...post, headers: { ...post.headers, expect: '100-continue' } }
  t.strictSame((await ask(session, '/any/post', expecting)).informational, [100])
})

t.test('fields that a backend repeats reach the client as they are', async (t) => {
  const backend = await startRawBackend(t, (socket) => {
    socket.once('data', () => {
      socket.write(
        'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nETag: "a"\r\nETag: "b"\r\nContent-Type: text/plain\r\n',
      )
      socket.write('Content-Type: text/html\r\n\r\nok')
    })
  })
  const gateway = await startGateway(t, { backend })
  const session = await connectHttp2(t, gateway.url)
  const stream = session.request({ ':path': '/public/x' })
  const [, , raw] = (await once(stream, 'response')) as [object, number, string[]]
  const values = (name: string) => raw.filter((_, index) => index % 2 === 1 && raw[index - 1] === name)
  t.strictSame(values('etag'), ['"a"', '"b"'])
  t.strictSame(values('content-type'), ['text/plain', 'text/html'])
})

t.test('a refused body is not waited for', async (t) => {
  const { session } = await start(t)
  const stream = session.request({ ':path': '/any/x', ':method': 'POST' })
  stream.on('error', () => {})
  stream.write('a')
  const [response] = await once(stream, 'response')
  t.equal(response[':status'], 401)
  stream.resume()
  await once(stream, 'close')
  t.equal(stream.rstCode, 0, 'RFC 9113 8.1: NO_ERROR, so that the client reads the answer')
})

t.test('a thousand requests on one connection each get their own answer', async (t) => {
  const { session, secretkey } = await start(t)
  const answers = await Promise.all(
    Array.from({ length: 1_000 }, (_, index) => ask(session, `/any/${index}`, { headers: { secretkey } })),
  )
  const crossed = answers.filter(({ body }, index) => body !== `GET /any/${index} 0`)
  t.strictSame(crossed, [])
})

t.test('the endpoints of the gateway answer too', async (t) => {
  const { session, account } = await start(t)
  const warnings: Error[] = []
  const onWarning = (warning: Error) => void warnings.push(warning)
  process.on('warning', onWarning)
  t.teardown(() => process.off('warning', onWarning))
  const keys = JSON.stringify({ SecretKey: account.secretKey, APIKey: account.apiKey })
  const headers = { ':method': 'POST', 'content-type': 'application/json' }
  const tokens = await ask(session, '/api/v1/accounts/access-token', { headers, body: keys })
  t.equal(tokens.status, 200)
  t.match(tokens.headers['set-cookie'], /refreshToken=/)
  const { JwtToken } = JSON.parse(tokens.body) as { JwtToken: string }
  const bearer = { headers: { authorization: `Bearer ${JwtToken}` } }
  t.equal((await ask(session, '/any/x', bearer)).status, 200)
  const wrong = await ask(session, '/api/v1/accounts/access-token', { headers, body: '{' })
  t.equal(`${wrong.status} ${codeOf(wrong)}`, '400 request-invalid')
  t.equal((await ask(session, '/.well-known/jwks.json', { headers: { ':method': 'DELETE' } })).status, 405)
  t.strictSame(warnings, [], 'no field is set that HTTP/2 does not have')
})

t.test('over TLS it is negotiated by ALPN, and can be turned off', async (t) => {
  const { key, cert } = makeCertificate(t, 'DNS:localhost,IP:127.0.0.1')
  const dir = t.testdir({ 'tls.key': key, 'tls.crt': cert })
  const tls = { cert: { file: `${dir}/tls.crt` }, key: { file: `${dir}/tls.key` } }
  for (const [http2, expected] of [
    [true, 'h2'],
    [false, 'http/1.1'],
  ] as const) {
    const { gateway, secretkey } = await startListening(t, { tls, http2 })
    const { port } = new URL(gateway.url)
    const socket = connectTls({
      host: '127.0.0.1',
      port: Number(port),
      ca: cert,
      ALPNProtocols: ['h2', 'http/1.1'],
    })
    await once(socket, 'secureConnect')
    t.equal(socket.alpnProtocol, expected)
    socket.destroy()
    if (!http2) continue
    const session = await connectHttp2(t, gateway.url, cert)
    const answer = await ask(session, '/any/x', { headers: { secretkey } })
    t.strictSame([answer.status, answer.body], [200, 'GET /any/x 0'])
  }
})

async function startListening(t: Test, listen: object) {
  const gateway = await startBoth(t, {
    answer: (request, response) => {
      response.end(`${request.method} ${request.url} 0`)
    },
    config: { listen: { port: 0, ...listen } },
  })
  return { gateway, secretkey: (await gateway.createAccount()).secretKey }
}

t.test('with http2: false the preface is a request line that is refused', async (t) => {
  const { gateway } = await startListening(t, { http2: false })
  const client = await connectRaw(t, gateway.url)
  client.send('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
  t.equal((await client.response()).status, 400)
})

t.test('a client that resets a request cancels it at the backend', async (t) => {
  let closed = 0
  const gateway = await startBoth(t, {
    answer: (request, response) => {
      response.write('begun')
      request.socket.once('close', () => closed++)
    },
  })
  const { secretKey } = await gateway.createAccount()
  const session = await connectHttp2(t, gateway.url)
  const stream = session.request({ ':path': '/any/x', secretkey: secretKey })
  await once(stream, 'response')
  stream.close(8)
  await until('the request is cancelled', () => closed === 1)
  t.equal((await ask(session, '/any/x', { headers: {} })).status, 401, 'the connection goes on')
})

t.test('a shutdown completes what has begun, and takes what is in transit', async (t) => {
  const answers: (() => void)[] = []
  const gateway = await startBoth(t, {
    answer: (_request, response) => {
      answers.push(() => response.end('late'))
    },
  })
  const { secretKey: secretkey } = await gateway.createAccount()
  const session = await connectHttp2(t, gateway.url)
  const goaway = once(session, 'goaway')
  const begun = ask(session, '/any/x', { headers: { secretkey } })
  await until('it has begun', () => answers.length === 1)
  const end = gateway.shutDown()
  await goaway
  answers[0]?.()
  t.strictSame([(await begun).status, (await begun).body], [200, 'late'])
  t.equal(await end, true)
})

t.test('log, metrics and status tell the version of HTTP', async (t) => {
  const { gateway, session, secretkey } = await start(t)
  for (let turn = 0; turn < 3; turn++) await ask(session, '/any/x', { headers: { secretkey } })
  const client = await connectRaw(t, gateway.url)
  await client.send('GET /public/x HTTP/1.1\r\nHost: x\r\n\r\n').response()
  await client.send('GET /public/x HTTP/1.0\r\nHost: x\r\n\r\n').response()
  const counter = 'gatehouse_http_requests_by_version_total'
  const metrics = await until('all are counted', async () => {
    const now = await readMetrics(gateway.opsUrl)
    return now.value(counter) === 5 ? now : undefined
  })
  const counted = ['1.0', '1.1', '2'].map((version) => metrics.value(counter, { version }))
  t.strictSame(counted, [1, 1, 3])
  const status = await (await fetch(`${gateway.opsUrl}/status?json`)).json()
  t.match(status, { sinceStart: { versions: { '1.0': 1, '1.1': 1, '2': 3 } } })
  const page = await (await fetch(`${gateway.opsUrl}/status`)).text()
  t.match(page, 'per second, 60% HTTP/2')
  const logged = gateway.logLines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request')
  t.strictSame(
    logged.map(({ httpVersion }) => httpVersion),
    ['2', '2', '2', '1.1', '1.0'],
  )
})
