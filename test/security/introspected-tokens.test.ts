import t from 'tap'
import { secretPrefixes } from '#platform/secrets/key-format.ts'
import { askDecision } from '../gateway/decide/support.ts'
import { known, right, startIntrospecting } from '../gateway/support/introspecting.ts'
import { ask as askHttp2, connectHttp2 } from '../http/h2/ask.ts'
import { rawRequest } from '../setup/raw-client.ts'

const bearer = (token: string) => `Authorization: Bearer ${token}`

t.test('an opaque token is dropped before the request is forwarded, whatever it is called', async (t) => {
  const { gateway, backend, codeWith } = await startIntrospecting(t)
  for (const header of [bearer(known), `authorization: bearer ${known}`, `AUTHORIZATION: BEARER  ${known} `])
    for (let round = 0; round < 2; round++) {
      t.equal(await codeWith('/orders', header), '200', header)
      t.notMatch(backend.last().rawHeaders.join('\n'), known)
    }
  const session = await connectHttp2(t, gateway.url)
  const sent = await askHttp2(session, '/orders', { headers: { authorization: `Bearer ${known}` } })
  t.equal(sent.status, 200)
  t.notMatch(backend.last().rawHeaders.join('\n'), known)
  t.notMatch(gateway.logLines.join('\n'), known)
})

t.test('an opaque token beside another credential is ambiguous, and nobody is asked about it', async (t) => {
  const { gateway, server, codeWith } = await startIntrospecting(t)
  const { secretKey } = await gateway.createAccount()
  for (const other of [
    `SecretKey: ${secretKey}`,
    bearer(known),
    bearer('other'),
    `Authorization: DPoP ${known}`,
  ])
    for (const path of ['/orders', '/any', '/optional'])
      t.equal(await codeWith(path, bearer(known), other), '400 credentials-ambiguous', `${path} ${other}`)
  t.strictSame(server.seen, [])
})

t.test('no credential of ours is told to an issuer, in whatever state it is', async (t) => {
  const { gateway, server, codeOf } = await startIntrospecting(t)
  const user = await gateway.createAccount()
  const { JwtToken, RefreshToken } = await gateway.tokens(user)
  const [header = '', payload = ''] = JwtToken.split('.')
  const links = Object.values(secretPrefixes).map((prefix) => `${prefix}_abcdefghijklmnop_x`)
  for (const token of [
    user.secretKey,
    user.secretKey.slice(0, -1),
    user.apiKey,
    RefreshToken,
    ...links,
    `${JwtToken}x`,
    JwtToken.slice(0, -1),
    `${header}.${payload}.`,
    `${header}.${payload.slice(0, -4)}.x`,
    `${header}.${payload}`,
    header,
    `${Buffer.from(' {"alg":"none"}').toString('base64url')}.e30.x`,
  ])
    for (const path of ['/orders', '/any']) t.match(await codeOf(path, token), /^401 /, token)
  t.equal(await codeOf('/orders', JwtToken), '200')
  t.strictSame(server.seen, [])
})

t.test(
  'what cannot be a token is refused without a question: too long, control bytes, other signs',
  async (t) => {
    const { gateway, server, codeOf } = await startIntrospecting(t, {}, { limits: { headers: '64KiB' } })
    const long = (length: number) => 'x'.repeat(length)
    for (const [length, asked] of [
      [8_191, 1],
      [8_192, 2],
      [8_193, 2],
      [60_000, 2],
    ] as const) {
      t.equal(await codeOf('/orders', long(length)), '401 token-invalid', `${length}`)
      t.equal(server.seen.length, asked, `${length}`)
    }
    const odd = [
      'a"b',
      'a\\b',
      'a,b',
      'a&token=b',
      'a%00b',
      'a=b',
      '====',
      'ä',
      '{}',
      '<a>',
      "a'b",
      'a\tb',
      'a:b',
    ]
    for (const token of odd) t.equal(await codeOf('/orders', token), '401 token-invalid', token)
    for (const byte of ['\x00', '\x01', '\x7f', '\x1b', '\r']) {
      const head = ['GET /orders HTTP/1.1', 'Host: gateway.test', bearer(`a${byte}b`)]
      const { status } = await rawRequest(t, gateway.url, head, '')
      t.ok(status === 400 || status === 401, `${JSON.stringify(byte)}: ${status}`)
    }
    t.equal(server.seen.length, 2)
    server.state.tokens.set('a+b/c~d-e._==', right)
    t.equal(await codeOf('/orders', 'a+b/c~d-e._=='), '200', 'all that RFC 6750 allows')
    t.equal(server.asked().at(-1), 'a+b/c~d-e._==')
  },
)

t.test('a flood of distinct tokens asks the issuer no more than the failure limit', async (t) => {
  const limits = { failures: { limit: 5, per: '1h' } }
  const { gateway, server, codeOf } = await startIntrospecting(t, {}, { limits })
  const codes = await Promise.all(
    Array.from({ length: 100 }, (_, index) => codeOf('/orders', `guess-${index}`)),
  )
  const of = (code: string) => codes.filter((each) => each === code).length
  t.strictSame([of('401 token-invalid'), of('429 too-many-failures')], [5, 95])
  t.equal(server.seen.length, 5)
  t.equal(await codeOf('/orders', known), '429 too-many-failures', 'a right one that is not known yet either')
  t.equal(server.seen.length, 5)
  const { JwtToken } = await gateway.tokens(await gateway.createAccount())
  t.equal(await codeOf('/orders', JwtToken), '200', 'what need not be asked about passes')
})

t.test('a known token passes while its network sends guesses', async (t) => {
  const limits = { failures: { limit: 2, per: '1h' } }
  const { server, codeOf } = await startIntrospecting(t, {}, { limits })
  t.equal(await codeOf('/orders', known), '200')
  for (let index = 0; index < 10; index++) await codeOf('/orders', `guess-${index}`)
  t.equal(await codeOf('/orders', known), '200')
  t.equal(await codeOf('/any', known), '200')
  t.equal(server.seen.length, 3)
})

t.test('one wrong token of a page that asks in parallel is counted once', async (t) => {
  const limits = { failures: { limit: 3, per: '1h' } }
  const { server, codeOf } = await startIntrospecting(t, {}, { limits })
  for (let round = 0; round < 3; round++) {
    const codes = await Promise.all(Array.from({ length: 20 }, () => codeOf('/orders', 'ended')))
    t.strictSame(new Set(codes), new Set(['401 token-invalid']))
  }
  t.equal(server.seen.length, 1)
  t.equal(await codeOf('/orders', known), '200')
})

t.test('guesses over the decide listener are counted by the client that the proxy names', async (t) => {
  const limits = { failures: { limit: 2, per: '1h' } }
  const decide = { decide: { port: 0 }, trustedProxies: ['127.0.0.1'] }
  const { gateway, server, codeOf } = await startIntrospecting(t, {}, { limits, ...decide })
  const statusOf = async (token: string) =>
    (await askDecision(t, gateway, { uri: '/orders', headers: [bearer(token)] })).status
  t.strictSame([await statusOf('a'), await statusOf('b'), await statusOf('c')], [401, 401, 429])
  t.equal(server.seen.length, 2)
  t.equal(await codeOf('/orders', known), '200', 'of another client')
})

t.test('an issuer that hangs costs an unknown token 2.5 s at most, and others nothing', async (t) => {
  const limits = { failures: { limit: 10, per: '1m' } }
  const { gateway, server, codeOf } = await startIntrospecting(t, {}, { limits })
  t.equal(await codeOf('/orders', known), '200')
  const { JwtToken } = await gateway.tokens(await gateway.createAccount())
  // Half an answer, and then a byte from time to time.
  server.state.answer = (_, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' }).write('{"active":')
    const drip = setInterval(() => response.write(' '), 50).unref()
    response.on('close', () => clearInterval(drip))
  }
  const startedAt = performance.now()
  const unknown = Array.from({ length: 40 }, async (_, index) => {
    const code = await codeOf('/orders', `new-${index}`)
    return { code, ms: performance.now() - startedAt }
  })
  for (const token of [known, JwtToken, known]) t.equal(await codeOf('/orders', token), '200')
  t.ok(performance.now() - startedAt < 1_500, 'while the others wait')
  for (const { code, ms } of await Promise.all(unknown)) {
    t.equal(code, '503 issuer-unavailable')
    t.ok(ms < 3_500, `${ms} ms, with some for a busy machine`)
  }
  t.ok(server.seen.length <= 11, `${server.seen.length} questions`)
})

t.test('an issuer that is out of reach is not flooded with questions of one network', async (t) => {
  const { server, codeOf } = await startIntrospecting(t)
  server.state.answer = (_, response) => response.writeHead(503).end()
  const codes: string[] = []
  for (let index = 0; index < 100; index++) codes.push(await codeOf('/orders', `new-${index}`))
  t.strictSame(new Set(codes), new Set(['503 issuer-unavailable']), 'and never 401 or 429')
  t.ok(server.seen.length < 20, `${server.seen.length} questions`)
})
