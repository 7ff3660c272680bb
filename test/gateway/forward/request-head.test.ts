import t from 'tap'
import { isLastOnConnection } from '#gateway/forward/connection-lines.ts'
import type { RequestBody } from '#http/request-head.ts'
import { createUpstreamHeaders } from '#http/upstream/upstream-config.ts'
import { client, linesOf, ownLines, routeOf } from './heads.ts'

t.test(
  "a client's fields pass in their order and case, and what the gateway says comes after them",
  async (t) => {
    const sent = [
      'Accept',
      'a',
      'x-one',
      '1',
      'ACCEPT',
      'b',
      'X-One',
      '2',
      'x_odd.name',
      '',
      'X-Latin',
      'J\xfcrgen',
    ]
    t.strictSame(linesOf(sent), [
      'Accept: a',
      'x-one: 1',
      'ACCEPT: b',
      'X-One: 2',
      'x_odd.name: ',
      'X-Latin: J\xfcrgen',
      ...ownLines,
    ])
    t.strictSame(linesOf([]), ownLines)
  },
)

t.test('identity from a client never passes, whether or not there is a principal', async (t) => {
  const sent = [
    'X-User-Id',
    'eve',
    'x_user_role',
    'Admin',
    'X.User.Id',
    'eve',
    'X-USER-EMAIL',
    'e',
    'x-user-name',
    'e',
  ]
  t.strictSame(linesOf(sent), ownLines)
  t.strictSame(linesOf(sent, { principal: undefined }), ownLines.slice(0, 4))
})

t.test('hop-by-hop fields, Host and framing from the client never pass', async (t) => {
  const sent = [
    'Host',
    'a',
    'Connection',
    'close',
    'Keep-Alive',
    'timeout=1',
    'TE',
    'gzip',
    'Upgrade',
    'h2c',
    'Proxy-Authorization',
    'Basic eDp5',
    'Proxy-Connection',
    'keep-alive',
    'Content-Length',
    '7',
    'Transfer-Encoding',
    'gzip',
    'content-length',
    '8',
  ]
  t.strictSame(linesOf(sent), ownLines)
})

t.test("headers nominated by Connection are dropped, in any case, except the gateway's own", async (t) => {
  const connectionOptions = new Set([
    'x-hop',
    'cookie',
    'authorization',
    'x-user-id',
    'x-user-role',
    'x-request-id',
    'x-forwarded-for',
    'host',
    'content-length',
    'transfer-encoding',
    'expect',
  ])
  const sent = [
    'X-Hop',
    '1',
    'x-HOP',
    '2',
    'Cookie',
    'a=b',
    'Authorization',
    'Basic x',
    'Expect',
    '100-continue',
    'X',
    'y',
  ]
  const counted: RequestBody = { kind: 'counted', length: 3 }
  t.strictSame(linesOf(sent, { connectionOptions, body: counted }), [
    'Expect: 100-continue',
    'X: y',
    'Content-Length: 3',
    ...ownLines,
  ])
})

t.test('the credentials of an authenticated request stay here unless the route forwards them', async (t) => {
  const sent = ['SecretKey', 'gsk_1', 'Authorization', 'Bearer x', 'secretkey', 'gsk_2']
  t.strictSame(linesOf(sent), ownLines)
  t.strictSame(linesOf(sent, { route: routeOf(true) }), [
    'SecretKey: gsk_1',
    'Authorization: Bearer x',
    'secretkey: gsk_2',
    ...ownLines,
  ])
})

t.test('without authentication Authorization passes, a secret key does not', async (t) => {
  const sent = ['SecretKey', 'gsk_1', 'Authorization', 'Basic x']
  t.strictSame(linesOf(sent, { principal: undefined }), ['Authorization: Basic x', ...ownLines.slice(0, 4)])
})

t.test('the refresh cookie never passes, not even where credentials are forwarded', async (t) => {
  const sent = ['Cookie', 'a=1; refreshToken=grt_1; b=2', 'cookie', 'refreshToken=grt_2', 'Cookie', 'c=3']
  for (const forwardsCredentials of [false, true]) {
    const lines = linesOf(sent, { route: routeOf(forwardsCredentials) })
    t.strictSame(lines, ['Cookie: a=1; b=2', 'Cookie: c=3', ...ownLines])
  }
})

t.test(
  'a method that is to replace the one of the request line passes only where the route says so',
  async (t) => {
    const sent = ['X-HTTP-Method-Override', 'DELETE', 'x_http_method', 'PUT', 'X.Method.Override', 'PATCH']
    t.strictSame(linesOf(sent), ownLines)
    t.strictSame(linesOf(sent, { route: routeOf(true) }), ownLines, 'forwardCredentials is about others')
    t.strictSame(linesOf(sent, { route: routeOf(false, true) }), [
      'X-HTTP-Method-Override: DELETE',
      'x_http_method: PUT',
      'X.Method.Override: PATCH',
      ...ownLines,
    ])
  },
)

t.test('words of a proxy pass from a trusted one only', async (t) => {
  const sent = [
    'Forwarded',
    'for=10.0.0.1',
    'X-Real-IP',
    '10.0.0.1',
    'X-Original-URL',
    '/admin',
    'X-Rewrite-URL',
    '/admin',
    'X-Forwarded-Prefix',
    '/a',
    'x_forwarded_port',
    '1',
    'X-Forwarded-For',
    '10.0.0.1',
    'X-Request-Id',
    'theirs',
  ]
  t.strictSame(linesOf(sent), ownLines)
  const trusted = { ...client, isTrusted: true, forwardedFor: '10.0.0.1, 203.0.113.7' }
  t.strictSame(linesOf(sent, { client: trusted }), [
    'Forwarded: for=10.0.0.1',
    'X-Real-IP: 10.0.0.1',
    'X-Forwarded-Prefix: /a',
    'x_forwarded_port: 1',
    ...ownLines.map((line) => line.replace('For: ', 'For: 10.0.0.1, ')),
  ])
})

t.test('the framing is what the body is, said once', async (t) => {
  const bodies: readonly (readonly [body: RequestBody, lines: readonly string[]])[] = [
    [{ kind: 'none', isEmpty: false }, []],
    [{ kind: 'none', isEmpty: true }, ['Content-Length: 0']],
    [{ kind: 'counted', length: 12_345_678_901 }, ['Content-Length: 12345678901']],
    [{ kind: 'chunked' }, ['Transfer-Encoding: chunked']],
  ]
  const sent = ['Content-Length', '0', 'Transfer-Encoding', 'chunked', 'Accept', 'a']
  for (const [body, lines] of bodies) {
    t.strictSame(linesOf(sent, { body }), ['Accept: a', ...lines, ...ownLines], body.kind)
  }
})

t.test('an upgrade says so in words of the gateway, and keeps the fields of the WebSocket', async (t) => {
  const sent = [
    'Connection',
    'keep-alive, Upgrade, X-User-Id',
    'Upgrade',
    'WebSocket',
    'Sec-WebSocket-Key',
    'abc',
    'Sec-WebSocket-Version',
    '13',
    'Sec-WebSocket-Protocol',
    'chat',
    'Sec-WebSocket-Extensions',
    'permessage-deflate',
    'X-User-Id',
    'eve',
  ]
  t.strictSame(linesOf(sent, { isUpgrade: true, connectionOptions: new Set(['x-user-id']) }), [
    'Sec-WebSocket-Key: abc',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Protocol: chat',
    'Sec-WebSocket-Extensions: permessage-deflate',
    'Connection: Upgrade',
    'Upgrade: websocket',
    ...ownLines,
  ])
})

const close = 'Connection: close'
const chunks = 'Transfer-Encoding: chunked'

t.test(
  'Trailer, and what it announces, is for routes that pass trailers, on a connection of its own',
  async (t) => {
    const sent = ['Trailer', 'X-Sum']
    const body = { kind: 'chunked' } as const
    t.strictSame(linesOf(sent, { body }), [chunks, ...ownLines])
    const passesTrailers = { ...routeOf(false), passesTrailers: true }
    const isLast = isLastOnConnection({ method: 'POST', body, expectsContinue: false }, passesTrailers)
    t.strictSame(linesOf(sent, { body, isLast, route: passesTrailers }), [
      'Trailer: X-Sum',
      chunks,
      close,
      ...ownLines,
    ])
  },
)

t.test(
  'chunks where trailers pass, what expects 100, and bodies that methods seldom have are last on their connection',
  async (t) => {
    for (const [method, passesTrailers, kind, expectsContinue, isLast] of [
      ['POST', false, 'chunked', false, false],
      ['POST', true, 'chunked', false, true],
      ['GET', true, 'none', false, false],
      ['GET', false, 'none', true, true],
      ['POST', false, 'chunked', true, true],
      ['GET', false, 'chunked', false, true],
      ['HEAD', false, 'chunked', false, true],
      ['OPTIONS', false, 'chunked', false, true],
      ['DELETE', false, 'chunked', false, true],
      ['delete', false, 'chunked', false, true],
      ['PROPFIND', false, 'chunked', false, false],
    ] as const) {
      const body = kind === 'none' ? ({ kind, isEmpty: false } as const) : ({ kind } as const)
      t.equal(isLastOnConnection({ method, body, expectsContinue }, { passesTrailers }), isLast)
    }
  },
)

t.test('an expectation passes, but not from HTTP/1.0, which knows none', async (t) => {
  const sent = ['Expect', '100-continue']
  t.strictSame(linesOf(sent, { isLast: true }), ['Expect: 100-continue', close, ...ownLines])
  t.strictSame(linesOf(sent, { minorVersion: 0 }), ownLines)
})

t.test('of TE only trailers passes, once, and is named in Connection', async (t) => {
  const te = ['Connection: TE', 'TE: trailers']
  t.strictSame(linesOf(['TE', 'trailers']), [...te, ...ownLines])
  t.strictSame(linesOf(['TE', 'gzip;q=0.5, Trailers', 'te', 'trailers']), [...te, ...ownLines])
  for (const value of ['gzip', 'xtrailers', 'trailers;q=1', ''])
    t.strictSame(linesOf(['TE', value]), ownLines)
  t.strictSame(linesOf(['TE', 'trailers'], { minorVersion: 0 }), ownLines, 'HTTP/1.0 has no trailers')
  t.strictSame(linesOf(['TE', 'trailers'], { isLast: true }), [close, ...ownLines])
})

t.test("the gateway's traceparent comes before the identity, and goes where a client's would", async (t) => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00'
  const line = `traceparent: ${traceparent}`
  const traced = [...ownLines.slice(0, 4), line, ...ownLines.slice(4)]
  t.strictSame(linesOf([], { traceparent }), traced)
  const connectionOptions = new Set(['traceparent'])
  t.strictSame(linesOf([], { traceparent, connectionOptions }), ownLines, 'nominated by Connection')
  const headers = createUpstreamHeaders([], ['TraceParent'])
  const route = { ...routeOf(false), upstream: { name: 'backend', headers } }
  t.strictSame(linesOf([], { traceparent, route }), ownLines, 'removed for the upstream')
})
