import t, { type Test } from 'tap'
import { ask } from '../gateway/support/ask.ts'
import { codeOf } from '../gateway/support/problem.ts'
import { startBoth } from '../setup/both.ts'

/** What one header field may carry. */
type Part = 'SecretKey' | 'X-Api-Key' | 'bearer' | 'basic' | 'jwt' | 'password' | 'aws' | 'token'

const parts: readonly Part[] = [
  'SecretKey',
  'X-Api-Key',
  'bearer',
  'basic',
  'jwt',
  'password',
  'aws',
  'token',
]
const auths = ['none', 'optional', 'secretKey', 'bearer', 'any'] as const
const acceptLists: readonly (readonly string[])[] = [
  ['SecretKey'],
  ['SecretKey', 'X-Api-Key', 'bearer', 'basic'],
  ['X-Api-Key'],
  ['bearer'],
  ['basic'],
]

/** The meaning of a field: a valid or an invalid credential, or none of the gateway's. */
type Meaning = 'key' | 'wrong key' | 'jwt' | 'wrong token' | 'other' | 'nothing'

function meaningOf(part: Part, accept: readonly string[]): Meaning {
  switch (part) {
    case 'SecretKey':
    case 'X-Api-Key':
      return accept.includes(part) ? 'key' : 'nothing'
    case 'bearer':
      return accept.includes(part) ? 'key' : 'wrong token'
    case 'basic':
      return accept.includes(part) ? 'key' : 'other'
    case 'password':
      return accept.includes('basic') ? 'wrong key' : 'other'
    case 'jwt':
      return 'jwt'
    case 'aws':
    case 'token':
      return 'other'
    default:
      return part satisfies never
  }
}

const isAuthorization = (part: Part) => part !== 'SecretKey' && part !== 'X-Api-Key'

/** Who comes through, or the code: contract of the parts on a route, written apart from the gateway's own way. */
function expectedOutcome(
  sent: readonly Part[],
  auth: (typeof auths)[number],
  accept: readonly string[],
): string {
  if (auth === 'none') return 'nobody'
  const meanings = sent.map((part) => meaningOf(part, accept))
  const credentials = meanings.filter((meaning) => meaning !== 'other' && meaning !== 'nothing')
  if (credentials.length > 1 || sent.filter(isAuthorization).length > 1) return 'credentials-ambiguous'
  const [only] = credentials
  if (only === undefined) {
    if (auth === 'optional') return 'nobody'
    return meanings.includes('other') ? 'scheme-not-accepted' : 'credentials-missing'
  }
  const scheme = only === 'jwt' || only === 'wrong token' ? 'bearer' : 'secretKey'
  if ((auth === 'secretKey' || auth === 'bearer') && auth !== scheme) return 'scheme-not-accepted'
  if (only === 'wrong key') return 'secret-key-invalid'
  return only === 'wrong token' ? 'token-invalid' : 'user'
}

/** Whether the backend sees a field of an admitted request. */
function isExpectedToArrive(
  part: Part,
  accept: readonly string[],
  { forwards, isAnonymous }: Passage,
): boolean {
  if (forwards) return true
  const meaning = meaningOf(part, accept)
  if (part === 'SecretKey' || meaning === 'key' || meaning === 'wrong key') return false
  return part === 'X-Api-Key' || isAnonymous
}

interface Passage {
  readonly forwards: boolean
  readonly isAnonymous: boolean
}

interface RouteKind {
  readonly auth: (typeof auths)[number]
  readonly forwards: boolean
}

const routeKinds: readonly RouteKind[] = auths.flatMap((auth) =>
  [true, false].map((forwards) => ({ auth, forwards })),
)

/**
 * The kind of route that a pair of fields is tried on with a list: over the lists, each pair meets every `auth`, and
 * routes that forward credentials and that do not; with each list, every kind of route has its turns.
 */
function kindOfTurn(pair: number, list: number): RouteKind {
  const auth = auths[(pair + list) % auths.length] ?? 'none'
  return { auth, forwards: Math.floor((pair + 2 * list) / auths.length) % 2 === 0 }
}

t.test('pairs of fields, lists and kinds of routes meet each other pairwise', async (t) => {
  const all = pairsOf(parts)
  const turns = acceptLists.flatMap((_, list) =>
    all.map((_, pair) => ({ pair, list, ...kindOfTurn(pair, list) })),
  )
  const countOf = (names: readonly (keyof (typeof turns)[number])[]) =>
    new Set(turns.map((turn) => names.map((name) => turn[name]).join(' '))).size
  t.equal(countOf(['pair', 'list']), all.length * acceptLists.length)
  t.equal(countOf(['pair', 'auth']), all.length * auths.length)
  t.equal(countOf(['pair', 'forwards']), all.length * 2)
  t.equal(countOf(['list', 'auth', 'forwards']), acceptLists.length * auths.length * 2)
})

for (const [place, accept] of acceptLists.entries()) {
  t.test(`keys.accept: ${accept.join(', ')}`, async (t) => {
    const routes = routeKinds.map(({ auth, forwards }) => ({
      name: `${auth}-${forwards}`,
      path: `/${auth}-${forwards}`,
      upstream: 'backend',
      auth,
      forwardCredentials: forwards,
    }))
    const keys = { sealingKey: { file: 'sealing.key' }, accept }
    const { backend, gateway } = await startBoth(t, { config: { routes, keys } })
    const user = await gateway.createAccount()
    const { JwtToken } = await gateway.tokens(user)
    const base64 = (text: string) => Buffer.from(text).toString('base64')
    const values: Readonly<Record<Part, string>> = {
      SecretKey: user.secretKey,
      'X-Api-Key': user.secretKey,
      bearer: `Bearer ${user.secretKey}`,
      basic: `Basic ${base64(`git:${user.secretKey}`)}`,
      jwt: `Bearer ${JwtToken}`,
      password: `Basic ${base64('ada:lovelace')}`,
      aws: 'AWS4-HMAC-SHA256 Credential=A/20261123/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0',
      token: 'token abc',
    }
    const nameOf = (part: Part) => (isAuthorization(part) ? 'Authorization' : part)
    const lineOf = (part: Part) => `${nameOf(part)}: ${values[part]}`

    async function tryFields(t: Test, sent: readonly Part[], { auth, forwards }: RouteKind): Promise<void> {
      const about = `${sent.join(' + ')}, auth: ${auth}, forwardCredentials: ${forwards}`
      const seen = backend.seen.length
      const response = await ask(t, gateway.url, `GET /${auth}-${forwards}`, sent.map(lineOf))
      const expected = expectedOutcome(sent, auth, accept)
      if (expected !== 'user' && expected !== 'nobody') {
        t.equal(codeOf(response), expected, about)
        t.equal(backend.seen.length, seen, `${about}: nothing reaches the backend`)
        return
      }
      t.equal(response.status, 200, about)
      const { headers, rawHeaders } = backend.last()
      t.equal(headers['x-user-id'], expected === 'user' ? user.account.id : undefined, about)
      const passage = { forwards, isAnonymous: expected === 'nobody' }
      const arrived = rawHeaders.filter((_, index) => index % 2 === 1 && isCarried(rawHeaders[index - 1]))
      t.strictSame(
        arrived.toSorted(),
        sent
          .filter((part) => isExpectedToArrive(part, accept, passage))
          .map((part) => values[part])
          .toSorted(),
        `${about}: what arrives`,
      )
    }

    t.test('no field and each field alone, on every kind of route', async (t) => {
      for (const kind of routeKinds)
        for (const sent of [[], ...parts.map((part) => [part])]) await tryFields(t, sent, kind)
    })

    t.test('each pair of fields, on the kinds of routes in turn', async (t) => {
      for (const [index, pair] of pairsOf(parts).entries()) await tryFields(t, pair, kindOfTurn(index, place))
    })

    t.test('other spellings of the name of a header that carries keys are dropped', async (t) => {
      const names = ['SecretKey', ...accept.filter((name) => name === 'X-Api-Key')]
      const spellings = names.flatMap((name) => [
        name.replace('-', '_'),
        `${name}_`,
        [...name].join('.'),
        name.toUpperCase().replaceAll('-', ''),
      ])
      for (const name of spellings.filter(
        (each) => !names.some((one) => one.toLowerCase() === each.toLowerCase()),
      )) {
        t.equal((await ask(t, gateway.url, 'GET /none-false', [`${name}: ${user.secretKey}`])).status, 200)
        t.notOk(name.toLowerCase() in backend.last().headers, name)
        t.equal((await ask(t, gateway.url, 'GET /none-true', [`${name}: ${user.secretKey}`])).status, 200)
        t.notOk(name.toLowerCase() in backend.last().headers, `${name}, with forwardCredentials`)
      }
    })

    t.test(
      'a key in a trailer field, or named in Connection, is no credential and never arrives',
      async (t) => {
        const [name = ''] = accept.filter((each) => each !== 'bearer' && each !== 'basic')
        const field = `${name === '' ? 'SecretKey' : name}: ${user.secretKey}`
        const chunked = await ask(t, gateway.url, 'POST /none-false', [
          'Transfer-Encoding: chunked',
          '',
          '0',
          field,
        ])
        t.equal(chunked.status, 200)
        t.strictSame(backend.last().trailers, {})
        const hop = [`Connection: ${field.split(':', 1)[0]}`, field]
        const response = await ask(t, gateway.url, 'GET /any-false', hop)
        t.equal(response.status, name === '' ? 401 : 200, 'a hop-by-hop credential is one for this hop')
      },
    )
  })
}

function isCarried(name: string | undefined): boolean {
  return ['secretkey', 'x-api-key', 'authorization'].includes(name?.toLowerCase() ?? '')
}

function pairsOf<Value>(values: readonly Value[]): (readonly [Value, Value])[] {
  return values.flatMap((one) => values.map((other) => [one, other] as const))
}
