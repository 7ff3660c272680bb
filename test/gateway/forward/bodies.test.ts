import { gzipSync } from 'node:zlib'
import t from 'tap'
import { startBackend, startCannedBackend, startRawBackend } from '../../setup/backend.ts'
import { connectRaw } from '../../setup/raw-client.ts'
import { connectProxy, headOf, startProxy } from './proxies.ts'

t.test('a counted body passes byte for byte, with its length, both ways', async (t) => {
  const bytes = String.fromCharCode(...Array.from({ length: 256 }, (_, code) => code))
  const backend = await startBackend(t, (_request, response, { body }) => {
    response.setHeader('Content-Length', body.length)
    response.end(Buffer.from(body, 'latin1'))
  })
  const client = await connectProxy(t, backend.url)
  client.send(headOf('POST / HTTP/1.1', 'Content-Length: 256') + bytes)
  const { body, headers } = await client.response()
  t.equal(body, bytes)
  t.equal(headers['content-length'], '256')
  t.equal(headers['transfer-encoding'], undefined)
  t.equal(backend.last().body, bytes)
  t.strictSame(backend.last().headers['content-length'], '256')
})

t.test('a chunked body stays chunked, both ways', async (t) => {
  const backend = await startBackend(t, (_request, response, { body }) => {
    response.write(body)
    response.end('!')
  })
  const client = await connectProxy(t, backend.url)
  client.send(
    `${headOf('PUT / HTTP/1.1', 'Transfer-Encoding: chunked')}5\r\nhello\r\n1\r\n \r\n5\r\nworld\r\n0\r\n\r\n`,
  )
  const { body, headers } = await client.response()
  t.equal(body, 'hello world!')
  t.equal(headers['transfer-encoding'], 'chunked')
  t.equal(headers['content-length'], undefined)
  t.equal(backend.last().headers['transfer-encoding'], 'chunked')
  t.equal(backend.last().headers['content-length'], undefined)
})

t.test('a GET, a DELETE and an OPTIONS keep their bodies', async (t) => {
  const backend = await startBackend(t)
  const client = await connectProxy(t, backend.url)
  for (const method of ['GET', 'DELETE', 'OPTIONS']) {
    client.send(`${headOf(`${method} / HTTP/1.1`, 'Content-Length: 5')}hello`)
    t.equal((await client.response()).body, 'ok')
    t.equal(backend.last().body, 'hello', method)
    client.send(`${headOf(`${method} / HTTP/1.1`, 'Transfer-Encoding: chunked')}3\r\nabc\r\n0\r\n\r\n`)
    t.equal((await client.response()).body, 'ok')
    t.equal(backend.last().body, 'abc', method)
  }
})

t.test('the absence of a body is distinguished from an empty body', async (t) => {
  const backend = await startBackend(t)
  const client = await connectProxy(t, backend.url)
  for (const [lines, length] of [
    [[], undefined],
    [['Content-Length: 0'], '0'],
  ] as const) {
    client.send(headOf('POST / HTTP/1.1', ...lines))
    t.equal((await client.response()).status, 200)
    t.equal(backend.last().headers['content-length'], length)
    t.equal(backend.last().headers['transfer-encoding'], undefined)
  }
})

t.test('an encoded body is neither decoded nor encoded again', async (t) => {
  const encoded = gzipSync('hello '.repeat(100))
  const backend = await startBackend(t, (_request, response) => {
    response.setHeader('Content-Encoding', 'gzip')
    response.setHeader('Vary', 'Accept-Encoding')
    response.end(encoded)
  })
  const client = await connectProxy(t, backend.url)
  client.send(
    headOf(
      'POST / HTTP/1.1',
      'Content-Encoding: gzip',
      'Accept-Encoding: gzip',
      `Content-Length: ${encoded.length}`,
    ),
  )
  client.send(encoded)
  const { body, headers } = await client.response()
  t.equal(body, encoded.toString('latin1'))
  t.equal(headers['content-encoding'], 'gzip')
  t.equal(backend.last().body, encoded.toString('latin1'))
  t.hasStrict(backend.last().headers, { 'content-encoding': 'gzip', 'accept-encoding': 'gzip' })
})

t.test('a part of a file passes with its range', async (t) => {
  const file = 'abcdefghij'
  const backend = await startBackend(t, (request, response) => {
    const [, from = '0', to = '0'] = /bytes=(\d+)-(\d+)/.exec(request.headers.range ?? '') ?? []
    response.writeHead(206, {
      'Content-Range': `bytes ${from}-${to}/${file.length}`,
      'Content-Length': Number(to) - Number(from) + 1,
    })
    response.end(file.slice(Number(from), Number(to) + 1))
  })
  const client = await connectProxy(t, backend.url)
  client.send(headOf('GET /file HTTP/1.1', 'Range: bytes=2-5', 'If-Range: "a"'))
  const { status, body, headers } = await client.response()
  t.strictSame([status, body, headers['content-range']], [206, 'cdef', 'bytes 2-5/10'])
  t.equal(backend.last().headers['if-range'], '"a"')
})

t.test('a body that ends with the connection of the target reaches the client whole', async (t) => {
  for (const version of ['1.0', '1.1']) {
    const backend = await startRawBackend(t, (socket) => {
      socket.once('data', () =>
        socket.end(`HTTP/${version} 200 OK\r\nContent-Type: text/plain\r\n\r\nall of it`),
      )
    })
    const client = await connectProxy(t, backend)
    for (let turn = 0; turn < 2; turn++) {
      client.send(headOf('GET / HTTP/1.1'))
      const { body, headers } = await client.response()
      t.equal(body, 'all of it')
      t.equal(headers['transfer-encoding'], 'chunked')
    }
  }
})

t.test(
  'an answer is passed on with its reason, its repeated fields and no field more than needed',
  async (t) => {
    const lines = ['Set-Cookie: a=1', 'X-B: 2', 'set-cookie: c=3', 'X-Latin: J\xfcrgen', 'Content-Length: 2']
    const backend = await startCannedBackend(t, `HTTP/1.1 299 Quite OK\r\n${lines.join('\r\n')}\r\n\r\nok`)
    const { url } = await startProxy(t, backend)
    const client = await connectRaw(t, url)
    client.send(headOf('GET / HTTP/1.1'))
    const { head, body } = await client.response()
    const [statusLine, ...received] = head.split('\r\n')
    t.equal(statusLine, 'HTTP/1.1 299 Quite OK')
    t.strictSame(received.slice(0, lines.length), lines)
    // No Server of the gateway's own; its request ID, a missing Date, and what it says of its connection may follow.
    t.strictSame(
      received
        .slice(lines.length)
        .filter((line) => !/^(Connection|Keep-Alive|Date|X-Request-Id): /.test(line)),
      [],
    )
    t.equal(body, 'ok')
  },
)
