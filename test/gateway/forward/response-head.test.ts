import t from 'tap'
import {
  type ResponseHeadInput,
  responseHeaderLines,
  responseTrailerLines,
} from '#gateway/forward/rewritten-response.ts'
import { createWorkerScopes } from '#gateway/routes/worker-scopes.ts'
import { parseFieldLines } from '#http/message/field-lines.ts'

const origins = {
  targetOrigin: 'http://10.0.0.11:3000',
  client: { protocol: 'https', host: 'api.example.com' },
  strippedPrefix: undefined,
  requestId: 'r-1',
  clientPath: '/orders/7',
  portalScopes: createWorkerScopes('/portal'),
  caching: undefined,
  ownCookies: undefined,
  isAuthenticated: false,
  repeated: undefined,
  set: undefined,
}

function keptOf(
  headers: readonly string[],
  changes: Partial<ResponseHeadInput> = {},
): readonly string[] | undefined {
  const lines = responseHeaderLines({ status: 200, headers, mayHaveTrailers: false, ...origins, ...changes })
  const fields = parseFieldLines(Buffer.from(lines, 'latin1'))
  // The Date that is added where there is none has a test of its own.
  const isDated = headers.some((name, index) => index % 2 === 0 && name.toLowerCase() === 'date')
  const sent = fields?.at(-2) === 'Date' && !isDated ? fields.slice(0, -2) : fields
  // So has the request ID.
  return sent?.at(-2) === 'X-Request-Id' ? sent.slice(0, -2) : sent
}

t.test('an answer without a Date gets one, an interim answer none', async (t) => {
  const linesOf = (status: number, headers: readonly string[]) =>
    responseHeaderLines({ status, headers, mayHaveTrailers: false, ...origins })
  t.match(
    linesOf(200, ['X', 'y']),
    /^X: y\r\nX-Request-Id: r-1\r\nDate: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\r\n$/,
  )
  t.equal(linesOf(200, ['date', 'now']), 'date: now\r\nX-Request-Id: r-1\r\n')
  t.equal(linesOf(103, ['X', 'y']), 'X: y\r\n')
})

t.test('the request ID of the gateway replaces that of the target, in heads and trailers', async (t) => {
  const headers = ['x-request-id', 'theirs', 'X-Request-ID', 'twice']
  const linesOf = (status: number) =>
    responseHeaderLines({ status, headers, mayHaveTrailers: false, ...origins }).split('\r\n')
  for (const status of [101, 200, 204, 304, 404, 503]) {
    t.strictSame(
      linesOf(status).filter((line) => /request-id/i.test(line)),
      ['X-Request-Id: r-1'],
    )
  }
  for (const status of [100, 102, 103]) t.strictSame(linesOf(status), [''])
  t.equal(responseTrailerLines(headers, []), '')
})

t.test('equal Content-Lengths of a response are sent as one', async (t) => {
  t.strictSame(keptOf(['Content-Length', '3', 'content-length', '3']), ['Content-Length', '3'])
  t.strictSame(keptOf(['Content-Length', '3, 3']), ['Content-Length', '3'])
})

t.test('fields pass in their order, case and number', async (t) => {
  const headers = [
    'Content-Type',
    'text/plain',
    'Set-Cookie',
    'a=1',
    'set-cookie',
    'b=2',
    'Content-Length',
    '3',
    'X-Odd_name',
    '',
    'WWW-Authenticate',
    'Basic realm="x"',
    'Date',
    'now',
    'Server',
    'J\xfcrgen',
    'X-User-Id',
    'theirs',
  ]
  t.strictSame(keptOf(headers), headers)
})

t.test('hop-by-hop headers of the target are dropped', async (t) => {
  const names = [
    'Connection',
    'Keep-Alive',
    'Proxy-Authenticate',
    'Proxy-Connection',
    'TE',
    'Transfer-Encoding',
    'Upgrade',
  ]
  for (const name of names.flatMap((name) => [name, name.toLowerCase(), name.toUpperCase()])) {
    t.strictSame(keptOf([name, 'some', 'X', 'y']), ['X', 'y'], name)
  }
})

t.test("headers nominated by the target's Connection are dropped, but never the length", async (t) => {
  const headers = [
    'X-Hop',
    '1',
    'Connection',
    'close, x-HOP ,X-Two',
    'x-two',
    '2',
    'X-Three',
    '3',
    'Content-Length',
    '5',
  ]
  t.strictSame(keptOf(headers), ['X-Three', '3', 'Content-Length', '5'])
  t.strictSame(keptOf(['Connection', 'X-A', 'Connection', 'X-B', 'X-A', '1', 'X-B', '2', 'X-C', '3']), [
    'X-C',
    '3',
  ])
  t.strictSame(keptOf(['Connection', 'content-length', 'Content-Length', '5']), ['Content-Length', '5'])
})

t.test('an answer that never has a body has no length', async (t) => {
  for (const status of [103, 204]) t.strictSame(keptOf(['Content-Length', '5'], { status }), [])
  for (const status of [200, 205, 304])
    t.strictSame(keptOf(['Content-Length', '5'], { status }), ['Content-Length', '5'])
})

t.test('Trailer announces only what can follow', async (t) => {
  t.strictSame(keptOf(['Trailer', 'X-Sum']), [])
  t.strictSame(keptOf(['trailer', 'X-Sum'], { mayHaveTrailers: true }), ['trailer', 'X-Sum'])
})

const locations: readonly (readonly [location: string, rewritten: string])[] = [
  ['http://10.0.0.11:3000', 'https://api.example.com'],
  ['http://10.0.0.11:3000/', 'https://api.example.com/'],
  ['http://10.0.0.11:3000/a?b#c', 'https://api.example.com/a?b#c'],
  ['http://10.0.0.11:3000?a', 'https://api.example.com?a'],
  ['HTTP://10.0.0.11:3000/A', 'https://api.example.com/A'],
  ['/a', '/a'],
  ['a', 'a'],
  ['', ''],
  ['http://10.0.0.11:30000/a', 'http://10.0.0.11:30000/a'],
  ['http://10.0.0.11:3000.evil.example/', 'http://10.0.0.11:3000.evil.example/'],
  ['http://10.0.0.11:3000@evil.example/', 'http://10.0.0.11:3000@evil.example/'],
  ['http://10.0.0.11/a', 'http://10.0.0.11/a'],
  ['https://other.example/?to=http://10.0.0.11:3000/', 'https://other.example/?to=http://10.0.0.11:3000/'],
]

t.test("the target's own address in Location becomes the one the client knows", async (t) => {
  for (const [location, rewritten] of locations) {
    for (const name of ['Location', 'location', 'Content-Location', 'LOCATION']) {
      t.strictSame(keptOf([name, location]), [name, rewritten], `${name}: ${location}`)
    }
  }
  t.strictSame(keptOf(['X-Location', 'http://10.0.0.11:3000/']), ['X-Location', 'http://10.0.0.11:3000/'])
})

t.test('other ways to write the address of the target do not give it away either', async (t) => {
  const plain = { ...origins, targetOrigin: 'http://10.0.0.11' }
  t.strictSame(keptOf(['Location', 'http://10.0.0.11:3000#a']), ['Location', 'https://api.example.com#a'])
  t.strictSame(keptOf(['Location', '//10.0.0.11:3000/a']), ['Location', '//api.example.com/a'])
  t.strictSame(keptOf(['Location', 'http://10.0.0.11:80/a'], plain), [
    'Location',
    'https://api.example.com/a',
  ])
})

t.test('trailers pass, but neither framing nor what must be known before', async (t) => {
  const refused = [
    'Content-Length',
    'Transfer-Encoding',
    'Trailer',
    'Host',
    'Connection',
    'Content-Encoding',
    'Content-Type',
    'Content-Range',
    'Set-Cookie',
    'TE',
    'Upgrade',
    'Keep-Alive',
  ]
  for (const name of refused)
    t.equal(responseTrailerLines([name, 'x', 'X-Sum', 'y'], []), 'X-Sum: y\r\n', name)
  const lines = responseTrailerLines(['X-Sum', 'a', 'x-sum', 'b', 'ETag', '"c"'], [])
  t.equal(lines, 'X-Sum: a\r\nx-sum: b\r\nETag: "c"\r\n')
})
