import t from 'tap'
import { startPatientBackend } from '../gateway/support/abort-tolerant-backend.ts'
import { startBoth } from '../setup/both.ts'
import { isApp, notInApp, startGateway } from '../setup/gateway.ts'
import { connectRaw } from '../setup/raw-client.ts'

const noTrailers = { skip: notInApp('http-proxy forwards no trailers') }
const hidden = 'GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n'

/** Chunked bodies that servers read in different ways. */
const broken: Readonly<Record<string, string>> = {
  'a size that is no number': 'x\r\nabc\r\n0\r\n\r\n',
  'a size with 0x': '0x3\r\nabc\r\n0\r\n\r\n',
  'a size with a sign': '+3\r\nabc\r\n0\r\n\r\n',
  'a negative size': '-3\r\nabc\r\n0\r\n\r\n',
  'an empty size': '\r\nabc\r\n0\r\n\r\n',
  'a size that overflows': `FFFFFFFFFFFFFFFFF\r\nabc\r\n0\r\n\r\n${hidden}`,
  'a size that wraps to three': `10000000000000003\r\nabc\r\n0\r\n\r\n${hidden}`,
  'a chunk longer than its size': '3\r\nabcd\r\n0\r\n\r\n',
  'a chunk shorter than its size': `5\r\nabc\r\n0\r\n\r\n${hidden}`,
  'data that end with a bare LF': `3\r\nabc\n0\r\n\r\n${hidden}`,
  'a size that ends with a bare LF': `3\nabc\r\n0\r\n\r\n${hidden}`,
  'a size that ends with a bare CR': `3\rabc\r\n0\r\n\r\n${hidden}`,
  'an extension that ends with a bare LF': `3;a\nabc\r\n0\r\n\r\n${hidden}`,
  'an extension with a bare CR': `3;a\rb\r\nabc\r\n0\r\n\r\n${hidden}`,
  'a size before a space and LF': `3 \nabc\r\n0\r\n\r\n${hidden}`,
  'a last chunk that ends with a bare LF': `3\r\nabc\r\n0\n\r\n${hidden}`,
  'a trailer without a colon': `3\r\nabc\r\n0\r\n${hidden}`,
  'a trailer with a space in its name': '3\r\nabc\r\n0\r\nX Y: z\r\n\r\n',
  'an extension whose quotes do not end': `3;a="b\r\nabc\r\n0\r\n\r\n${hidden}`,
  'an extension without a name': `3;\r\nabc\r\n0\r\n\r\n${hidden}`,
  // Node limits each of them alone.
  ...(!isApp() && { 'more extensions than data': `3;${'a'.repeat(200)}\r\nabc\r\n`.repeat(100) }),
  'a space behind the size': `3 \r\nabc\r\n0\r\n\r\n${hidden}`,
  'an endless extension': `3;${'a'.repeat(20_000)}\r\nabc\r\n0\r\n\r\n`,
  'endless trailers': `3\r\nabc\r\n0\r\n${'X: y\r\n'.repeat(9_000)}\r\n`,
}

t.test('a body with broken chunks is 400, and never looks complete to the backend', async (t) => {
  const backend = await startPatientBackend(t)
  const gateway = await startGateway(t, { backend: backend.url })
  for (const [name, body] of Object.entries(broken)) {
    const client = await connectRaw(t, gateway.url)
    client.send(`POST /public HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${body}`)
    const response = await client.response()
    t.equal(response.status, isApp() && name === 'endless trailers' ? 431 : 400, name)
    if (!isApp()) t.equal(response.headers.connection, 'close')
    await client.ended()
  }
  t.strictSame(backend.whole, [])
  t.notOk(backend.begun.includes('/smuggled'))
})

t.test('unusual but valid chunks are parsed as meant, and re-encoded', async (t) => {
  const { backend, gateway } = await startBoth(t)
  for (const body of [
    '3\r\nabc\r\n0\r\n\r\n',
    '0003\r\nabc\r\n000\r\n\r\n',
    '3;name=value\r\nabc\r\n0;last\r\n\r\n',
    // Node refuses spaces in extensions.
    ...(isApp() ? [] : ['3 ; a = "b;\\"c" ;d\r\nabc\r\n0\r\n\r\n']),
    '1\r\na\r\n1\r\nb\r\n1\r\nc\r\n0\r\nX-Trailer: 1\r\n\r\n',
  ]) {
    const client = await connectRaw(t, gateway.url)
    client.send(
      `POST /public HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${body}${hidden.replace('smuggled', 'public/next')}`,
    )
    t.equal((await client.response()).status, 200)
    t.equal((await client.response()).status, 200, 'the next request on the connection is the next')
    // Node hands over pipelined requests at once.
    const [first, second] = backend.seen.slice(-2).toSorted((a, b) => a.url.length - b.url.length)
    t.match(first, { url: '/public', body: 'abc' })
    t.match(second, { url: '/public/next', body: '' })
  }
})

t.test('trailers cannot carry forbidden headers', noTrailers, async (t) => {
  const backend = await startPatientBackend(t)
  const route = { name: 'public', path: '/public', upstream: 'backend', auth: 'none', trailers: 'pass' }
  const gateway = await startGateway(t, { backend: backend.url, config: { routes: [route] } })
  const forbidden = [
    'Content-Length: 0',
    'Transfer-Encoding: chunked',
    'Host: evil',
    'SecretKey: x',
    'Authorization: x',
    'Cookie: refreshToken=x',
    'X-Forwarded-For: 1.2.3.4',
    'Connection: close',
    'X-Request-Id: x',
    'TE: x',
  ]
  for (const line of forbidden) {
    const client = await connectRaw(t, gateway.url)
    client.send('POST /public HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n')
    client.send(`1\r\nx\r\n0\r\n${line}\r\nX-Sum: 1\r\n\r\n`)
    const { status } = await client.response()
    t.equal(status, 200, line)
    const { request } = backend.whole.at(-1) ?? {}
    t.strictSame({ ...request?.trailers }, { 'x-sum': '1' }, line)
  }
  t.equal(backend.whole.length, forbidden.length)
})
