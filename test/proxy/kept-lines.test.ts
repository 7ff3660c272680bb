import t from 'tap'
import { type ResponseHeadInput, responseHeaderLines } from '../../src/proxy/response-head.ts'
import { createWorkerScopes } from '../../src/routes/worker-scope.ts'
import { createRandom } from '../upstream/random.ts'

const cachingOf = (name: string) => ({
  names: [name],
  varyLine: `Vary: ${name}\r\n`,
  privateLines: `Vary: ${name}\r\nCache-Control: private\r\n`,
})
const cachings = [undefined, cachingOf('SecretKey'), cachingOf('Authorization')]
const scopes = createWorkerScopes('/portal')
const ownCookies = { isSetBy: (value: string) => value.startsWith('own='), remove: (value: string) => value }

/** Each is about the request, or not. */
const heads: readonly (readonly string[])[] = [
  ['Content-Type', 'application/json', 'Content-Length', '2', 'Connection', 'keep-alive'],
  ['Date', 'now', 'Vary', 'Accept', 'Trailer', 'X-T', 'Connection', 'x-hop', 'X-Hop', '1'],
  ['Cache-Control', 'no-store', 'Transfer-Encoding', 'chunked', 'X-Request-Id', 'theirs'],
  ['Content-Type', 'text/javascript'],
  ['Location', 'http://10.0.0.11:3000/a'],
  ['content-location', '/b'],
  ['Set-Cookie', 'own=1', 'set-cookie', 'other=1'],
  ['Service-Worker-Allowed', '/'],
]

t.test('the lines of a head that repeats are those of one that does not, whoever asks', async (t) => {
  const random = createRandom(7)
  const maybe = <Value>(value: Value) => (random.below(2) === 0 ? value : undefined)
  const repeated = heads.map(() => ({ derived: undefined }))
  const differences: unknown[] = []
  for (let round = 0; round < 20_000; round++) {
    const index = random.below(heads.length)
    const path = random.pick(['/orders/7', '/portal/x', '/'])
    const input: ResponseHeadInput = {
      status: 200,
      headers: heads[index] ?? [],
      repeated: undefined,
      mayHaveTrailers: random.pick([true, false]),
      targetOrigin: 'http://10.0.0.11:3000',
      client: { protocol: 'https', host: random.pick(['a.example', 'b.example']) },
      strippedPrefix: maybe({ own: '/v1', outer: '' }),
      requestId: `r-${round}`,
      clientPath: path,
      portalScopes: maybe(scopes),
      caching: cachings[random.below(3)],
      ownCookies: maybe(ownCookies),
      isAuthenticated: random.pick([true, false]),
    }
    // The second may come in another second than the first.
    const linesOf = (given: ResponseHeadInput) =>
      responseHeaderLines(given).replace(/Date: .* GMT/, 'Date: now')
    const expected = linesOf(input)
    const got = linesOf({ ...input, repeated: repeated[index] })
    if (got !== expected) differences.push({ input, expected, got })
  }
  t.strictSame(differences, [])
})

t.test('lines about the request are not kept, others are', async (t) => {
  for (const [index, headers] of heads.entries()) {
    const repeated = { derived: undefined }
    responseHeaderLines({
      status: 200,
      headers,
      repeated,
      mayHaveTrailers: false,
      targetOrigin: '',
      client: { protocol: 'http', host: 'a.example' },
      strippedPrefix: undefined,
      requestId: 'r',
      clientPath: '/',
      portalScopes: undefined,
      caching: undefined,
      ownCookies: undefined,
      isAuthenticated: false,
    })
    t.match(repeated.derived, { header: index < 3 ? { lines: String } : undefined })
  }
})
