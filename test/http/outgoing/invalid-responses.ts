/** What two readers could take for different messages, or one reader for none. */

const ok = 'HTTP/1.1 200 OK\r\n'
const length = 'Content-Length: 2\r\n'
const chunked = 'Transfer-Encoding: chunked\r\n'

function heads(fields: readonly string[]): readonly string[] {
  return fields.map((field) => `${ok}${field}\r\n${length}\r\nok`)
}

function statusLines(lines: readonly string[]): readonly string[] {
  return lines.map((line) => `${line}\r\n${length}\r\nok`)
}

function framings(...lists: readonly (readonly string[])[]): readonly string[] {
  return lists.map((fields) => `${ok}${fields.map((field) => `${field}\r\n`).join('')}\r\nok`)
}

/** Each is refused while its head is read: no part of it may be reported. */
export const invalidHeads: Readonly<Record<string, readonly string[]>> = {
  'a status line of another kind': statusLines([
    'HTTP/2 200 OK',
    'HTTP/1.2 200 OK',
    'HTTP/0.9 200 OK',
    'HTTP/1.10 200 OK',
    'HTTP/11 200 OK',
    'http/1.1 200 OK',
    'HTTP 200 OK',
    'ICY 200 OK',
    'HTTP/1.1\t200 OK',
    'HTTP/1.1  200 OK',
    ' HTTP/1.1 200 OK',
    'XHTTP/1.1 200 OK',
    '200 OK',
    'GET / HTTP/1.1',
    '<html>',
    '\0HTTP/1.1 200 OK',
  ]),
  'an empty line before the status line': statusLines(['\r\nHTTP/1.1 200 OK', '\nHTTP/1.1 200 OK']),
  'a status that is no status': statusLines([
    'HTTP/1.1 20 OK',
    'HTTP/1.1 2000 OK',
    'HTTP/1.1 099 OK',
    'HTTP/1.1 000 OK',
    'HTTP/1.1 +20 OK',
    'HTTP/1.1 -20 OK',
    'HTTP/1.1 2 0 OK',
    'HTTP/1.1 200OK',
    'HTTP/1.1 abc OK',
    'HTTP/1.1 0x1 OK',
    'HTTP/1.1',
    'HTTP/1.1 ',
    'HTTP/1.1 200\tOK',
    'HTTP/1.1 \u00b2\u00b2\u00b2 OK',
  ]),
  'a control character in the reason': statusLines(
    ['\0', '\x01', '\x0b', '\x1b[31m', '\x7f', '\rX: y', '\nX: y'].map((text) => `HTTP/1.1 200 O${text}K`),
  ),
  'a bare LF': [
    ...heads(['X: y\nZ: a', 'X: y\n', '\nX: y', 'X:\ny', `X: y\nTransfer-Encoding: chunked`]),
    `${ok}X: y\n\nHTTP/1.1 200 OK\r\n\r\n`,
    'HTTP/1.1 200 OK\nContent-Length: 2\r\n\r\nok',
  ],
  'a bare CR': heads(['X: y\rZ: a', 'X: y\r', '\rX: y', 'X\r: y', 'X: \r y']),
  'a folded line': heads(['X: y\r\n z', 'X: y\r\n\tz', 'X:\r\n y', 'X: y\r\n ']),
  'space where none may be': heads(['X : y', 'X\t: y', ' X: y', '\tX: y', 'X Y: z', 'Content-Length : 2']),
  'a name that is none': heads([
    ': y',
    'X',
    'X y',
    'X(: y',
    'X): y',
    'X,: y',
    'X/: y',
    'X;: y',
    'X<: y',
    'X=: y',
    'X>: y',
    'X?: y',
    'X@: y',
    'X[: y',
    'X\\: y',
    'X]: y',
    'X{: y',
    'X}: y',
    'X": y',
    'X\xe9: y',
    'X\0: y',
    'X\x7f: y',
    '\xa0X: y',
    'HTTP/1.1 200 OK',
  ]),
  'a control character in a value': heads(
    ['\0', '\x01', '\x08', '\x0b', '\x0c', '\x1f', '\x7f'].flatMap((control) => [
      `X: ${control}`,
      `X: a${control}b`,
    ]),
  ),
  'two lengths': framings(
    ['Content-Length: 2', 'Content-Length: 3'],
    ['Content-Length: 2,3'],
    ['Content-Length: 2,'],
  ),
  'a length that is none': framings(
    ...[
      '',
      '+2',
      '-2',
      '2.0',
      '2e0',
      '0x2',
      ' ',
      '2 2',
      '2;',
      '"2"',
      'two',
      '\xb2',
      '2\xa0',
      '2_0',
      '0b10',
    ].map((value) => [`Content-Length: ${value}`]),
  ),
  'a length beyond all numbers': framings(
    ...['9007199254740993', '18446744073709551616', '18446744073709551618', '9'.repeat(400)].map((value) => [
      `Content-Length: ${value}`,
    ]),
  ),
  'an encoding other than chunked': framings(
    ...[
      'gzip',
      'identity',
      'gzip, chunked',
      'chunked, gzip',
      'chunked, chunked',
      'chunked,',
      ',chunked',
      '',
    ].map((value) => [`Transfer-Encoding: ${value}`]),
    ...['xchunked', 'chunked;q=1', '"chunked"', 'chunked\x0b', 'chunked\xa0', '\xa0chunked', 'chun ked'].map(
      (value) => [`Transfer-Encoding: ${value}`],
    ),
  ),
  'its encoding twice': framings(
    ['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'],
    ['Transfer-Encoding: chunked', 'Transfer-Encoding: identity'],
    ['Transfer-Encoding: identity', 'Transfer-Encoding: chunked'],
    ['transfer-encoding: gzip', 'Transfer-Encoding: chunked'],
  ),
  'a length beside chunks': framings(
    ['Transfer-Encoding: chunked', 'Content-Length: 2'],
    ['Content-Length: 2', 'Transfer-Encoding: chunked'],
    ['Content-Length: 0', 'X: y', 'TRANSFER-ENCODING: CHUNKED'],
  ),
  'chunks from HTTP/1.0': [`HTTP/1.0 200 OK\r\n${chunked}\r\n2\r\nok\r\n0\r\n\r\n`],
  'a contradiction where there is no body': [
    `HTTP/1.1 204 \r\n${length}Content-Length: 3\r\n\r\n`,
    `HTTP/1.1 304 \r\n${length}${chunked}\r\n`,
  ],
  'a switch of protocols that nobody asked for': [
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n',
  ],
}

function bodies(list: readonly string[]): readonly string[] {
  return list.map((body) => `${ok}${chunked}\r\n${body}`)
}

/** Each is refused while its body is read. */
export const invalidBodies: Readonly<Record<string, readonly string[]>> = {
  'a chunk size that is none': bodies([
    '\r\nok\r\n0\r\n\r\n',
    'g\r\n',
    '-2\r\nok\r\n',
    '+2\r\nok\r\n',
    '0x2\r\nok\r\n',
    ' 2\r\nok\r\n',
    '\t2\r\nok\r\n',
    '2 2\r\nok\r\n',
    '2,\r\nok\r\n',
    '2.0\r\nok\r\n',
    ';x\r\nok\r\n',
    '"2"\r\nok\r\n',
    '2\xa0\r\nok\r\n',
    'zz\r\n',
    '2\0\r\nok\r\n',
    '\u00b2\r\nok\r\n',
    '2h\r\nok\r\n',
    '_2\r\nok\r\n',
    '2_0\r\nok\r\n',
  ]),
  'a chunk size beyond all numbers': bodies([
    '20000000000000\r\n',
    'ffffffffffffffff\r\n',
    '10000000000000002\r\nok\r\n0\r\n\r\n',
    `${'f'.repeat(64)}\r\n`,
    `${'0'.repeat(64)}2\r\nok\r\n`,
  ]),
  'a control character in an extension': bodies(
    ['\0', '\x01', '\x7f', '\r', '\n', '\nX: y'].map((control) => `2;a${control}b\r\nok\r\n0\r\n\r\n`),
  ),
  'a malformed extension of a chunk': bodies([
    '2;\r\nok\r\n',
    '2 \r\nok\r\n0\r\n\r\n',
    '2\t\r\nok\r\n0\r\n\r\n',
  ]),
  'lines of a chunk that end with LF alone': bodies([
    '2\nok\r\n0\r\n\r\n',
    '2\r\nok\n0\r\n\r\n',
    '2;a\nok\r\n0\r\n\r\n',
    '2\n\r\nok\r\n0\r\n\r\n',
  ]),
  'lines of a chunk that end with CR alone': bodies([
    '2\rok\r\n0\r\n\r\n',
    '2\r\nok\r0\r\n\r\n',
    '2\r\r\nok\r\n',
  ]),
  'a chunk that is longer or shorter than its size': bodies([
    '2\r\noktoo\r\n0\r\n\r\n',
    '1\r\nok\r\n0\r\n\r\n',
    '3\r\nok\r\n0\r\n\r\n',
    '2\r\nok0\r\n\r\n\r\n',
    '2\r\nok\r\r\n',
  ]),
  'trailers that are none': bodies(
    [
      'X\r\n',
      ' X: y\r\n',
      'X : y\r\n',
      ': y\r\n',
      'X: y\r\n z\r\n',
      'X: y\nZ: a\r\n',
      'X: y\rZ: a\r\n',
      'X: \0\r\n',
      'X\xe9: y\r\n',
      'HTTP/1.1 200 OK\r\n',
      'X: y\x7f\r\n',
      '\nX: y\r\n',
    ].map((trailers) => `2\r\nok\r\n0\r\n${trailers}\r\n`),
  ),
}
