import t from 'tap'
import { RequestParser } from '#http/server/request-parser.ts'
import { bytesOf, headBytesMax, names, readHeads } from './read-heads.ts'

function headOf(text: string) {
  const { heads, refusal } = readHeads([bytesOf(text)])
  return refusal ?? heads[0]
}

t.test('a request head is parsed as sent, with order and case of its fields', async (t) => {
  t.match(headOf('GET /a?b HTTP/1.1\r\nHost: x\r\nX-One:1\r\nx-one: \t two  words \t\r\nE:\r\n\r\n'), {
    method: 'GET',
    target: '/a?b',
    minorVersion: 1,
    body: { kind: 'none', isEmpty: false },
    rawHeaders: ['Host', 'x', 'X-One', '1', 'x-one', 'two  words', 'E', ''],
    isPersistent: true,
  })
  t.match(headOf('GET / HTTP/1.0\r\n\r\n'), { minorVersion: 0, rawHeaders: [], isPersistent: false })
})

t.test('any token is a method, anything else is refused', async (t) => {
  for (const method of ['QUERY', 'FOO', 'get', 'M-SEARCH', "!#$%&'*+-.^_`|~09", 'x'.repeat(1_000)]) {
    t.match(headOf(`${method} / HTTP/1.1\r\n\r\n`), { method }, method)
  }
  for (const method of ['', 'G(T', 'G,T', 'G:T', 'G/T', 'G"T', 'G\tT', 'G\0T', 'G\xe9T', 'G\x7fT', 'G=T']) {
    t.equal(headOf(`${method} / HTTP/1.1\r\n\r\n`), 'request-line', JSON.stringify(method))
  }
})

t.test('only HTTP/1.1 and HTTP/1.0 are parsed', async (t) => {
  for (const version of [
    'HTTP/2.0',
    'HTTP/0.9',
    'HTTP/1.2',
    'HTTP/1.10',
    'HTTP/2',
    'http/1.1',
    'HTTP/1',
    'HTTPS/1.1',
    'HTTP/1.x',
    'HTTP/ 1.1',
    'HTTP/1.1 ',
    '',
    'HTTP/01.1',
    'HTTP/+1.1',
    'ICE/1.0',
    'HTTP/1,1',
  ]) {
    t.equal(headOf(`GET / ${version}\r\nHost: x\r\n\r\n`), 'request-line', version)
  }
  t.equal(headOf('GET /\r\n\r\n'), 'request-line', 'HTTP/0.9 has no version at all')
})

t.test('a request line has exactly two spaces', async (t) => {
  for (const line of [
    'GET  / HTTP/1.1',
    'GET /  HTTP/1.1',
    ' GET / HTTP/1.1',
    'GET / HTTP/1.1 ',
    'GET\t/ HTTP/1.1',
    'GET /a b HTTP/1.1',
    'GET /\rb HTTP/1.1',
    'GET /\nb HTTP/1.1',
    'GET HTTP/1.1',
    'GET  HTTP/1.1',
    'GET',
  ]) {
    t.equal(headOf(`${line}\r\nHost: x\r\n\r\n`), 'request-line', JSON.stringify(line))
  }
})

t.test('control characters in a target are left for the router to refuse', async (t) => {
  for (const target of ['/\0', '/a\x01b', '/a\tb', '/\x7f', '/\x0b']) {
    t.match(headOf(`GET ${target} HTTP/1.1\r\n\r\n`), { target }, JSON.stringify(target))
  }
})

t.test('empty lines before a request are skipped, and count towards the limit', async (t) => {
  t.match(headOf(`${'\r\n'.repeat(10)}GET / HTTP/1.1\r\n\r\n`), { method: 'GET' })
  t.equal(headOf(`${'\r\n'.repeat(10_000)}GET / HTTP/1.1\r\n\r\n`), 'too large')
  t.equal(headOf('\n\nGET / HTTP/1.1\r\n\r\n'), 'request-line')
  t.equal(headOf('\rGET / HTTP/1.1\r\n\r\n'), 'request-line')
})

t.test('a malformed header line is refused', async (t) => {
  for (const line of [
    'X',
    ': y',
    'X : y',
    'X\t: y',
    ' X: y',
    '\tX: y',
    'X Y: z',
    'X: y\r\n z',
    'X: y\r\n\tz',
    'X:\r\n y',
    'X: y\nZ: a',
    'X: y\rZ: a',
    'X: \0',
    'X: a\x01b',
    'X: \x7f',
    'X: \x0b',
    'X\xe9: y',
    'X(: y',
    'X\0: y',
    'GET / HTTP/1.1',
    '\rX: y',
    '\n',
  ]) {
    t.equal(headOf(`GET / HTTP/1.1\r\nHost: x\r\n${line}\r\n\r\n`), 'field-line', JSON.stringify(line))
  }
  t.match(headOf('GET / HTTP/1.1\r\nX: \xe9\xff\x80 \t!\r\n\r\n'), { rawHeaders: ['X', '\xe9\xff\x80 \t!'] })
})

t.test('a request with conflicting body lengths is refused', async (t) => {
  const twice = (name: string, value: string) => `${name}: ${value}\r\n${name}: ${value}`
  for (const [lines, field] of [
    ['Content-Length: 3\r\nTransfer-Encoding: chunked', 'Content-Length'],
    ['Transfer-Encoding: chunked\r\ncontent-length: 0', 'Content-Length'],
    [twice('Content-Length', '3'), 'Content-Length'],
    ...['', '+3', '-3', '3.0', '0x3', '3,3', '3 3', '1e2', '\xb2', '9'.repeat(16)].map((length) => [
      `Content-Length: ${length}`,
      'Content-Length',
    ]),
    [twice('Transfer-Encoding', 'chunked'), 'Transfer-Encoding'],
    ...[
      '',
      'gzip',
      'gzip, chunked',
      'chunked, chunked',
      'chunked;q=1',
      '"chunked"',
      'xchunked',
      'identity',
    ].map((coding) => [`Transfer-Encoding: ${coding}`, 'Transfer-Encoding']),
  ] as const) {
    t.equal(headOf(`POST / HTTP/1.1\r\nHost: x\r\n${lines}\r\n\r\n`), field, lines)
  }
  t.equal(headOf('POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n'), 'Transfer-Encoding')
})

t.test('the framing of a body follows its header fields', async (t) => {
  for (const [lines, body] of [
    ['X: y', { kind: 'none', isEmpty: false }],
    ['content-LENGTH: 0', { kind: 'none', isEmpty: true }],
    ['Content-Length: 000012', { kind: 'counted', length: 12 }],
    ['Content-Length: 999999999999999', { kind: 'counted', length: 999_999_999_999_999 }],
    ['TRANSFER-encoding: Chunked', { kind: 'chunked' }],
  ] as const) {
    t.match(headOf(`POST / HTTP/1.1\r\n${lines}\r\n\r\n`), { body }, lines)
  }
})

t.test('persistence of a connection follows version and Connection field', async (t) => {
  for (const [version, connection, isPersistent] of [
    ['1.1', 'keep-alive', true],
    ['1.1', 'close', false],
    ['1.1', 'foo, CLOSE ,bar', false],
    ['1.1', 'closed', true],
    ['1.0', 'keep-alive', true],
    ['1.0', 'Keep-Alive, foo', true],
    ['1.0', 'close, keep-alive', false],
    ['1.0', 'foo', false],
  ] as const) {
    t.match(
      headOf(`GET / HTTP/${version}\r\nConnection: ${connection}\r\n\r\n`),
      { isPersistent },
      connection,
    )
  }
})

t.test('an upgrade needs HTTP/1.1 and Connection: upgrade', async (t) => {
  for (const [version, lines, upgrade] of [
    ['1.1', 'Connection: Upgrade\r\nUpgrade: WebSocket', 'websocket'],
    ['1.1', 'Upgrade: websocket\r\nConnection: keep-alive, upgrade', 'websocket'],
    ['1.1', 'Upgrade: websocket', undefined],
    ['1.1', 'Connection: upgrade', undefined],
    ['1.0', 'Connection: Upgrade\r\nUpgrade: websocket', undefined],
    ['1.1', 'Connection: Upgrade\r\nUpgrade: websocket\r\nUpgrade: h2c', 'websocket, h2c'],
  ] as const) {
    t.hasStrict(headOf(`GET / HTTP/${version}\r\n${lines}\r\n\r\n`), { upgrade }, lines)
  }
})

t.test('clients that send little take little memory, whatever another has sent', async (t) => {
  const options = { headBytesMax, names: () => names }
  // Thousands of lines that are marked.
  const unusual = bytesOf(`GET / HTTP/1.1\r\n${'Expect:\r\n'.repeat(1_600)}\r\n`)
  const parsers: RequestParser[] = []
  const bytesOfMany = (pieces: readonly string[]) => {
    t.equal(readHeads([unusual]).heads.length + readHeads([unusual.subarray(0, -2)]).heads.length, 1)
    const before = process.memoryUsage().arrayBuffers
    for (let index = 0; index < 1_000; index++) {
      const parser = new RequestParser(options)
      for (const piece of pieces) parser.feed(bytesOf(piece))
      parsers.push(parser)
    }
    return process.memoryUsage().arrayBuffers - before
  }
  for (const pieces of [['GET / HTTP/1.1\r\nA'], ['GET / HTTP/1.1\r\nHost: x\r\nA', ': b\r\n\r\n']])
    t.ok(bytesOfMany(pieces) < 4_000_000, `1,000 clients: ${JSON.stringify(pieces)}`)
  t.equal(parsers.length, 2_000)
})
