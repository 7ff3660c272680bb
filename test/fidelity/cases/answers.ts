import type { Case } from '../case-context.ts'
import { exchangeCase } from '../exchange.ts'

/** A case about the final answer as the client gets it. */
function answered(name: string, answer: string, expected: readonly unknown[], method = 'GET'): Case {
  return exchangeCase(
    name,
    { request: `${method} / HTTP/1.1\r\n\r\n`, answer },
    ({ answers }) => answers.flatMap(({ line, fields, framing, body }) => [line, fields, framing, body]),
    expected,
  )
}

const ranges =
  '--cut\r\nContent-Type: text/plain\r\nContent-Range: bytes 0-1/9\r\n\r\nab\r\n--cut\r\n' +
  'Content-Type: text/plain\r\nContent-Range: bytes 7-8/9\r\n\r\nhi\r\n--cut--\r\n'
/** A gzip member of some bytes, as it came from a compressor: it must not be touched. */
const gzip = Buffer.from('1f8b0800000000000003cb48cdc9c95728cf2fca49010085114a0d0b000000', 'hex').toString(
  'latin1',
)
const everyByte = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)).toString('latin1')

export const answerCases: readonly Case[] = [
  answered('201 with its Location', 'HTTP/1.1 201 Created\r\nLocation: /a\r\nContent-Length: 0\r\n\r\n', [
    'HTTP/1.1 201 Created',
    ['Location: /a', 'Content-Length: 0'],
    'counted',
    '',
  ]),
  answered('204 has no body and no length', 'HTTP/1.1 204 No Content\r\nX-A: 1\r\n\r\n', [
    'HTTP/1.1 204 No Content',
    ['X-A: 1'],
    'none',
    '',
  ]),
  answered('205 is empty, and says so', 'HTTP/1.1 205 Reset Content\r\nContent-Length: 0\r\n\r\n', [
    'HTTP/1.1 205 Reset Content',
    ['Content-Length: 0'],
    'counted',
    '',
  ]),
  answered(
    '304 keeps the length of what it stands for (RFC 9110 15.4.5)',
    'HTTP/1.1 304 Not Modified\r\nETag: "x"\r\nContent-Length: 99\r\n\r\n',
    ['HTTP/1.1 304 Not Modified', ['ETag: "x"', 'Content-Length: 99'], 'none', ''],
  ),
  answered(
    '206 with one range',
    'HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 1-2/9\r\nContent-Length: 2\r\n\r\nbc',
    ['HTTP/1.1 206 Partial Content', ['Content-Range: bytes 1-2/9', 'Content-Length: 2'], 'counted', 'bc'],
  ),
  answered(
    '206 with several, in multipart',
    `HTTP/1.1 206 Partial Content\r\nContent-Type: multipart/byteranges; boundary=cut\r\nContent-Length: ${ranges.length}\r\n\r\n${ranges}`,
    [
      'HTTP/1.1 206 Partial Content',
      ['Content-Type: multipart/byteranges; boundary=cut', `Content-Length: ${ranges.length}`],
      'counted',
      ranges,
    ],
  ),
  answered(
    'gzip is not opened',
    `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${gzip.length}\r\n\r\n${gzip}`,
    ['HTTP/1.1 200 OK', ['Content-Encoding: gzip', `Content-Length: ${gzip.length}`], 'counted', gzip],
  ),
  answered('every byte', `HTTP/1.1 200 OK\r\nContent-Length: 256\r\n\r\n${everyByte}`, [
    'HTTP/1.1 200 OK',
    ['Content-Length: 256'],
    'counted',
    everyByte,
  ]),
  answered(
    'an answer to HEAD keeps its length and has no body',
    'HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n',
    ['HTTP/1.1 200 OK', ['Content-Length: 1234'], 'none', ''],
    'HEAD',
  ),
  ...[200, 299, 404, 418, 451, 499, 500, 503, 511, 599].map((status) =>
    answered(
      `${status} is the upstream's own, whatever it says`,
      `HTTP/1.1 ${status} Said Just So\r\nContent-Length: 4\r\n\r\nbody`,
      [`HTTP/1.1 ${status} Said Just So`, ['Content-Length: 4'], 'counted', 'body'],
    ),
  ),
  answered('a reason of other letters', 'HTTP/1.1 200 J\xfcrgen \xff\r\nContent-Length: 0\r\n\r\n', [
    'HTTP/1.1 200 J\xfcrgen \xff',
    ['Content-Length: 0'],
    'counted',
    '',
  ]),
  answered('no reason at all (RFC 9112 4)', 'HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n', [
    'HTTP/1.1 200 ',
    ['Content-Length: 0'],
    'counted',
    '',
  ]),
  exchangeCase(
    'an upstream of HTTP/1.0 that ends its body by closing is whole for the client, in chunks',
    {
      request: 'GET / HTTP/1.1\r\n\r\n',
      answer: 'HTTP/1.0 200 OK\r\nX-A: 1\r\n\r\nto the end',
      isEnded: true,
    },
    ({ answers: [answer] }) => [answer?.line, answer?.framing, answer?.body],
    ['HTTP/1.1 200 OK', 'chunked', 'to the end'],
  ),
  exchangeCase(
    'every 1xx before the answer comes through, in order (RFC 9110 15.2)',
    {
      request: 'GET / HTTP/1.1\r\n\r\n',
      answer:
        'HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\nLink: </b>\r\n\r\n' +
        'HTTP/1.1 103 Early Hints\r\nLink: </c>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
    },
    ({ answers }) => answers.map(({ line, fields }) => [line, ...fields]),
    [
      ['HTTP/1.1 102 Processing'],
      ['HTTP/1.1 103 Early Hints', 'Link: </a>; rel=preload', 'Link: </b>'],
      ['HTTP/1.1 103 Early Hints', 'Link: </c>'],
      ['HTTP/1.1 200 OK', 'Content-Length: 2'],
    ],
  ),
]
