import type { Asked, Reading } from './read-response.ts'

export interface ValidResponse {
  readonly what: string
  /** In Latin-1. */
  readonly sent: string
  readonly asked?: Asked
  /** What must be read, as far as the example is about it. */
  readonly read: Partial<Reading> & { readonly status: number }
}

const ok = 'HTTP/1.1 200 OK\r\n'
const chunked = `${ok}Transfer-Encoding: chunked\r\n\r\n`
const persistent = { isPersistent: true, mayHaveStrayBody: false, keepAliveMs: undefined }
const closing = { isPersistent: false, mayHaveStrayBody: false, keepAliveMs: undefined }

/** Responses that say without doubt what they are. */
export const validResponses: readonly ValidResponse[] = [
  {
    what: 'a counted body',
    sent: `${ok}Content-Length: 5\r\n\r\nhello`,
    read: { status: 200, body: 'hello', terms: persistent, order: ['head', 'data', 'end'] },
  },
  {
    what: 'an empty counted body',
    sent: `${ok}Content-Length: 0\r\n\r\n`,
    read: { status: 200, body: '', terms: persistent, order: ['head', 'end'] },
  },
  {
    what: 'a length with leading zeros',
    sent: `${ok}content-length:  0003\t\r\n\r\nabc`,
    read: { status: 200, body: 'abc' },
  },
  {
    what: 'one length several times, in fields and in one field',
    sent: `${ok}Content-Length: 3\r\ncontent-length: 3, 3 ,03\r\n\r\nabc`,
    read: { status: 200, body: 'abc', terms: persistent, order: ['head', 'data', 'end'] },
  },
  {
    what: 'a body full of line ends and NULs',
    sent: `${ok}Content-Length: 11\r\n\r\n\r\n\r\n0\r\n\r\n\0\0`,
    read: { status: 200, body: '\r\n\r\n0\r\n\r\n\0\0' },
  },
  {
    what: 'chunks',
    sent: `${chunked}5\r\nhello\r\n1\r\n \r\n5\r\nworld\r\n0\r\n\r\n`,
    read: {
      status: 200,
      body: 'hello world',
      trailers: [],
      terms: persistent,
      order: ['head', 'data', 'end'],
    },
  },
  {
    what: 'no chunk but the last',
    sent: `${chunked}0\r\n\r\n`,
    read: { status: 200, body: '', trailers: [] },
  },
  {
    what: 'chunks in odd cases',
    sent: `${ok}TRANSFER-ENCODING: ChunkeD\r\n\r\n00a\r\n0123456789\r\nA\r\nabcdefghij\r\n000\r\n\r\n`,
    read: { status: 200, body: '0123456789abcdefghij' },
  },
  {
    what: 'chunks with extensions',
    sent: `${chunked}2;a\r\nab\r\n2 ; b = c;d="e;\\"\t\xff"\r\ncd\r\n0;last\r\nX-Sum: 1\r\n\r\n`,
    read: { status: 200, body: 'abcd', trailers: ['X-Sum', '1'], terms: persistent },
  },
  {
    what: 'a chunk that looks like an end',
    sent: `${chunked}9\r\n\r\n0\r\n\r\n\r\n\r\n0\r\n\r\n`,
    read: { status: 200, body: '\r\n0\r\n\r\n\r\n' },
  },
  {
    what: 'trailers',
    sent: `${chunked}2\r\nhi\r\n0\r\nX-Sum: abc \r\nx-sum:\r\nServer-Timing: a;dur=1\r\n\r\n`,
    read: { status: 200, body: 'hi', trailers: ['X-Sum', 'abc', 'x-sum', '', 'Server-Timing', 'a;dur=1'] },
  },
  {
    what: 'a body until the close',
    sent: `${ok}X: y\r\n\r\nall of it`,
    asked: { isClosed: true },
    read: { status: 200, body: 'all of it', terms: closing, order: ['head', 'data', 'end'] },
  },
  {
    what: 'an empty body until the close, and no fields at all',
    sent: `${ok}\r\n`,
    asked: { isClosed: true },
    read: {
      status: 200,
      body: '',
      head: { status: 200, reason: 'OK', headers: [] },
      order: ['head', 'end'],
    },
  },
  {
    what: '204, whose length means nothing',
    sent: 'HTTP/1.1 204 No Content\r\nContent-Length: 3\r\n\r\n',
    read: { status: 204, body: '', terms: { ...persistent, mayHaveStrayBody: true }, order: ['head', 'end'] },
  },
  {
    what: '304 with the length of what it stands for',
    sent: 'HTTP/1.1 304 Not Modified\r\nETag: "a"\r\nContent-Length: 30\r\n\r\n',
    read: { status: 304, body: '', terms: { ...persistent, mayHaveStrayBody: true } },
  },
  {
    what: '304 with an encoding but no chunks',
    sent: 'HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n',
    read: { status: 304, body: '' },
  },
  {
    what: 'HEAD with a length',
    sent: `${ok}Content-Length: 1000\r\n\r\n`,
    asked: { method: 'HEAD' },
    read: { status: 200, body: '', terms: { ...persistent, mayHaveStrayBody: true }, order: ['head', 'end'] },
  },
  {
    what: 'HEAD without a length',
    sent: `${ok}\r\n`,
    asked: { method: 'HEAD' },
    read: { status: 200, body: '', terms: persistent, order: ['head', 'end'] },
  },
  {
    what: 'several 1xx before the answer',
    sent:
      'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n' +
      `Link: </b>; rel=preload\r\n\r\nHTTP/1.1 199 \r\n\r\n${ok}Content-Length: 2\r\n\r\nok`,
    read: { status: 200, body: 'ok', order: ['100', '102', '103', '199', 'head', 'data', 'end'] },
  },
  {
    what: '101 and the first bytes after it',
    sent: 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n\x81\x02hi',
    asked: { isUpgrade: true },
    read: { status: 101, upgradeRest: '\x81\x02hi', body: '', trailers: undefined, order: ['upgrade'] },
  },
  {
    what: 'an upgrade that was declined',
    sent: `${ok}Content-Length: 2\r\n\r\nno`,
    asked: { isUpgrade: true },
    read: { status: 200, body: 'no', upgradeRest: undefined },
  },
  {
    what: 'HTTP/1.0, which never persists',
    sent: 'HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok',
    read: { status: 200, body: 'ok', terms: closing },
  },
  {
    what: 'HTTP/1.0 until the close',
    sent: 'HTTP/1.0 200 OK\r\n\r\nok',
    asked: { isClosed: true },
    read: { status: 200, body: 'ok', terms: closing },
  },
  {
    what: 'Connection: close among others, in any case',
    sent: `${ok}Connection: foo ,CLOSE\t, bar\r\nContent-Length: 2\r\n\r\nok`,
    read: { status: 200, body: 'ok', terms: closing },
  },
  {
    what: 'a Connection that only resembles close',
    sent: `${ok}Connection: closed, not-close\r\nContent-Length: 2\r\n\r\nok`,
    read: { status: 200, terms: persistent },
  },
  {
    what: 'how long the target keeps the connection',
    sent: `${ok}Keep-Alive: max=100, timeout=5\r\nContent-Length: 0\r\n\r\n`,
    read: { status: 200, terms: { isPersistent: true, mayHaveStrayBody: false, keepAliveMs: 5_000 } },
  },
  {
    what: 'an empty reason',
    sent: 'HTTP/1.1 404 \r\nContent-Length: 0\r\n\r\n',
    read: {
      status: 404,
      head: { status: 404, reason: '', headers: ['Content-Length', '0'] },
    },
  },
  {
    what: 'no reason, and not even the space before it',
    sent: 'HTTP/1.1 404\r\nContent-Length: 0\r\n\r\n',
    read: {
      status: 404,
      head: { status: 404, reason: '', headers: ['Content-Length', '0'] },
    },
  },
  {
    what: 'bytes beyond ASCII in reason and values',
    sent: 'HTTP/1.1 200 \xc3\xa9 ok\t!\r\nX-Name: J\xfcrgen \xff\x80\r\nContent-Length: 0\r\n\r\n',
    read: {
      status: 200,
      head: {
        status: 200,
        reason: '\xc3\xa9 ok\t!',
        headers: ['X-Name', 'J\xfcrgen \xff\x80', 'Content-Length', '0'],
      },
    },
  },
  {
    what: 'names of every character a token may have, and their order and case',
    sent: `${ok}!#$%&'*+-.^_\`|~09azAZ: \t v v \t\r\nSet-Cookie: a\r\nset-cookie: b\r\nempty:\r\nContent-Length: 0\r\n\r\n`,
    read: {
      status: 200,
      head: {
        status: 200,
        reason: 'OK',
        headers: [
          "!#$%&'*+-.^_`|~09azAZ",
          'v v',
          'Set-Cookie',
          'a',
          'set-cookie',
          'b',
          'empty',
          '',
          'Content-Length',
          '0',
        ],
      },
    },
  },
  {
    what: 'an unusual status',
    sent: 'HTTP/1.1 799 Whatever\r\nContent-Length: 0\r\n\r\n',
    read: { status: 799 },
  },
  {
    what: 'what comes after the end',
    sent: `${ok}Content-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n\r\n`,
    read: { status: 200, body: 'ok', rest: 'HTTP/1.1 200 OK\r\n\r\n' },
  },
  {
    what: 'what comes after the last chunk',
    sent: `${chunked}2\r\nok\r\n0\r\n\r\n\r\n0\r\n\r\n`,
    read: { status: 200, body: 'ok', rest: '\r\n0\r\n\r\n' },
  },
  {
    what: 'a body after HEAD, which is none of its',
    sent: `${ok}Content-Length: 2\r\n\r\nok`,
    asked: { method: 'HEAD' },
    read: { status: 200, body: '', rest: 'ok' },
  },
]
