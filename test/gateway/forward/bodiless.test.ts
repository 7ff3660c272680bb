import t from 'tap'
import { startCannedBackend, startServer } from '../../setup/backend.ts'
import { connectProxy, headOf } from './proxies.ts'

const heads: Readonly<
  Record<
    string,
    readonly [method: string, answer: string, expected: Readonly<Record<string, string | undefined>>]
  >
> = {
  'HEAD with a length': [
    'HEAD',
    'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\nETag: "a"\r\n\r\n',
    { 'content-length': '1000', etag: '"a"' },
  ],
  'HEAD without a length': [
    'HEAD',
    'HTTP/1.1 200 OK\r\nETag: "a"\r\n\r\n',
    { 'content-length': undefined, etag: '"a"' },
  ],
  'HEAD of a chunked body': [
    'HEAD',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nETag: "a"\r\n\r\n',
    { 'content-length': undefined, etag: '"a"' },
  ],
  'HEAD of a chunked body with trailers': [
    'HEAD',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\nETag: "a"\r\n\r\n',
    { 'content-length': undefined, etag: '"a"' },
  ],
  '204': [
    'DELETE',
    'HTTP/1.1 204 No Content\r\nETag: "a"\r\n\r\n',
    { 'content-length': undefined, etag: '"a"' },
  ],
  // A length has no place there (RFC 9110 8.6), and some clients would wait for a body.
  '204 with a length': [
    'GET',
    'HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n',
    { 'content-length': undefined },
  ],
  '304': [
    'GET',
    'HTTP/1.1 304 Not Modified\r\nETag: "a"\r\nContent-Length: 1000\r\n\r\n',
    { 'content-length': '1000', etag: '"a"' },
  ],
  '304 that was chunked with trailers': [
    'GET',
    'HTTP/1.1 304 Not Modified\r\nETag: "a"\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n',
    { 'content-length': undefined, etag: '"a"' },
  ],
  '205 with no content': [
    'POST',
    'HTTP/1.1 205 Reset Content\r\nContent-Length: 0\r\n\r\n',
    { 'content-length': '0' },
  ],
}

for (const [what, [method, answer, expected]] of Object.entries(heads)) {
  t.test(`an answer without a body passes as it is, and the connection goes on: ${what}`, async (t) => {
    const client = await connectProxy(t, await startCannedBackend(t, answer))
    for (let turn = 0; turn < 3; turn++) {
      client.send(headOf(`${method} / HTTP/1.1`))
      // Whatever followed the head would be taken for the next answer.
      const { status, headers } = await client.response(true)
      t.equal(status, Number(answer.slice(9, 12)))
      for (const [name, value] of Object.entries(expected)) t.equal(headers[name], value, name)
      t.equal(headers['transfer-encoding'], undefined)
    }
  })
}

t.test('a HEAD is sent as HEAD', async (t) => {
  const methods: (string | undefined)[] = []
  const url = await startServer(t, ({ method }, response) => {
    methods.push(method)
    response.setHeader('Content-Length', 10)
    response.end('never seen')
  })
  const client = await connectProxy(t, url)
  client.send(headOf('HEAD / HTTP/1.1') + headOf('GET / HTTP/1.1'))
  t.equal((await client.response(true)).headers['content-length'], '10')
  t.equal((await client.response()).body, 'never seen')
  t.strictSame(methods, ['HEAD', 'GET'])
})
