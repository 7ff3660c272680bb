import t, { type Test } from 'tap'
import { responseBytesMax } from '#identity/issuers/fetch-json.ts'
import { isSecureUrl, type KeySetSource } from '#identity/issuers/issuer.ts'
import { discoveryUrls } from '#identity/issuers/issuer-discovery.ts'
import { openKeySetFetches, refetchGapMs } from '#identity/issuers/issuer-fetches.ts'
import { openIssuerKeys } from '#identity/issuers/issuer-keys.ts'
import { parsePublicKeys, publicKeysMax } from '#identity/issuers/public-keys.ts'
import { until } from '../../setup/net.ts'
import { newIssuerKey, startIssuer } from './issuer-server.ts'

const key = await newIssuerKey('one')
const next = await newIssuerKey('two')

type Issuer = Awaited<ReturnType<typeof startIssuer>>

function open(
  t: Test,
  { url }: Pick<Issuer, 'url'>,
  keys: KeySetSource = { kind: 'url', url: `${url}/jwks` },
) {
  const time = { nowMs: 0 }
  const lines: string[] = []
  const replaced: string[] = []
  const fetched: boolean[] = []
  const fetches = openKeySetFetches(() => time.nowMs)
  const opened = openIssuerKeys({
    fetches,
    issuer: {
      name: 'corp',
      issuer: url,
      audiences: ['orders'],
      require: [],
      algorithms: ['ES256'],
      tokenType: 'any',
      keys,
      subject: ['sub'],
      role: { claim: undefined, map: [], default: 'User' },
      scopes: undefined,
      email: undefined,
      plan: undefined,
    },
    log: {
      info: (_: unknown, text?: string) => lines.push(`info ${text}`),
      error: (facts: unknown, text?: string) => lines.push(`error ${text} ${JSON.stringify(facts)}`),
    } as never,
    monotonic: () => time.nowMs,
    onReplaced: (change) => replaced.push(change),
    onFetched: (isSuccess) => fetched.push(isSuccess),
  })
  t.teardown(() => {
    opened.close()
    fetches.close()
  })
  return {
    ...opened,
    time,
    lines,
    replaced,
    fetched,
    has: (kid: string) => typeof opened.find(kid, 'ES256') === 'object',
  }
}

t.test('keys are found by discovery of OpenID Connect, else of RFC 8414', async (t) => {
  const issuer = await startIssuer(t, [key])
  const byOpenId = open(t, issuer, { kind: 'discovery' })
  await byOpenId.settled()
  t.equal(byOpenId.has('one'), true)
  t.strictSame(issuer.seen, ['/.well-known/openid-configuration', '/jwks'])

  const oauth = await startIssuer(t, [key])
  oauth.state.answer = ({ url }, response) => {
    if (url === '/.well-known/oauth-authorization-server')
      return response.end(JSON.stringify({ issuer: oauth.url, jwks_uri: `${oauth.url}/jwks` }))
    if (url === '/jwks') return response.end(JSON.stringify({ keys: [key.jwk] }))
    response.writeHead(404).end()
  }
  const byOauth = open(t, oauth, { kind: 'discovery' })
  await byOauth.settled()
  t.equal(byOauth.has('one'), true)
})

t.test('discovery puts its paths where the standards say', async (t) => {
  t.strictSame(discoveryUrls('https://id.example.com/'), [
    'https://id.example.com/.well-known/openid-configuration',
    'https://id.example.com/.well-known/oauth-authorization-server',
  ])
  t.strictSame(discoveryUrls('https://id.example.com/realms/corp'), [
    'https://id.example.com/realms/corp/.well-known/openid-configuration',
    'https://id.example.com/.well-known/oauth-authorization-server/realms/corp',
  ])
})

t.test('only https, or this machine, is fetched from', async (t) => {
  for (const url of [
    'https://id.example.com/x',
    'http://127.0.0.1:1/x',
    'http://127.9.9.9',
    'http://[::1]:1',
    'http://localhost',
  ])
    t.equal(isSecureUrl(url), true, url)
  for (const url of [
    'http://id.example.com',
    'http://localhost.example.com',
    'http://127.0.0.1.example.com',
    'http://10.0.0.1',
    'ftp://127.0.0.1',
    'file:///etc/passwd',
    'https://u:p@id.example.com',
    'data:,x',
    'x',
    '',
  ])
    t.equal(isSecureUrl(url), false, url)
})

for (const [what, metadata] of [
  ['another issuer', { issuer: 'https://eve.example.com' }],
  ['the issuer with a slash', (url: string) => ({ issuer: `${url}/`, jwks_uri: `${url}/jwks` })],
  ['keys over plain HTTP', (url: string) => ({ issuer: url, jwks_uri: 'http://id.example.com/jwks' })],
  ['no keys', (url: string) => ({ issuer: url })],
  ['a list', []],
] as const) {
  t.test(`discovery that names ${what} gives no keys`, async (t) => {
    const issuer = await startIssuer(t, [key])
    const body = JSON.stringify(typeof metadata === 'function' ? metadata(issuer.url) : metadata)
    issuer.state.answer = ({ url }, response) =>
      url === '/jwks' ? response.end(JSON.stringify({ keys: [key.jwk] })) : response.end(body)
    const keys = open(t, issuer, { kind: 'discovery' })
    await keys.settled()
    t.equal(keys.find('one', 'ES256'), 'never-had')
    t.notOk(issuer.seen.includes('/jwks'))
  })
}

t.test('a new key is fetched when a token names it', async (t) => {
  const issuer = await startIssuer(t, [key])
  const keys = open(t, issuer)
  await keys.settled()
  issuer.state.keys = [key, next]
  t.equal(keys.has('two'), false)
  t.equal(await keys.refetch(), true)
  t.equal(keys.has('two'), true)
  t.strictSame(keys.replaced, ['added', 'added'])
  issuer.state.keys = [next]
  keys.time.nowMs += refetchGapMs
  await keys.refetch()
  t.equal(keys.has('one'), false)
  t.strictSame(keys.replaced.at(-1), 'removed')
})

t.test('unknown keys cost the issuer one request a cooldown, however many are asked for', async (t) => {
  const issuer = await startIssuer(t, [key])
  const keys = open(t, issuer)
  await keys.settled()
  t.equal(issuer.seen.length, 1)
  for (let second = 0; second < 30; second++) {
    keys.time.nowMs = second * 1_000
    for (const isCurrent of await Promise.all(Array.from({ length: 200 }, () => keys.refetch())))
      t.equal(isCurrent, true)
  }
  t.equal(issuer.seen.length, 1 + 30_000 / refetchGapMs)
})

t.test('keys are kept through an outage, which is logged once, and its end', async (t) => {
  const issuer = await startIssuer(t, [key])
  const keys = open(t, issuer)
  await keys.settled()
  issuer.state.answer = (_, response) => response.writeHead(500).end()
  for (let index = 0; index < 3; index++) {
    keys.time.nowMs += refetchGapMs
    t.equal(await keys.refetch(), false)
    t.equal(keys.has('one'), true)
  }
  t.strictSame(keys.state(), { keys: 1, isUp: false })
  t.equal(keys.lines.length, 1)
  t.match(keys.lines[0], /error keys of the issuer cannot be fetched: known keys stay valid.*status 500/)
  issuer.state.answer = undefined
  keys.time.nowMs += refetchGapMs
  t.equal(await keys.refetch(), true)
  t.strictSame(keys.lines.slice(1), ['info keys of the issuer can be fetched again'])
})

t.test('an issuer that is not there at first is found by itself', async (t) => {
  const issuer = await startIssuer(t, [key])
  issuer.state.answer = (_, response) => response.destroy()
  const keys = open(t, issuer)
  await keys.settled()
  t.equal(keys.find('one', 'ES256'), 'never-had')
  t.match(keys.lines, [/its tokens get 503/])
  issuer.state.answer = undefined
  await until('the keys are known', () => {
    keys.time.nowMs += 1_000
    return keys.has('one') || undefined
  })
})

t.test('an issuer that does not answer is waited for no longer than a second', async (t) => {
  const issuer = await startIssuer(t, [key])
  issuer.state.answer = () => {}
  const keys = open(t, issuer)
  const startedAt = performance.now()
  t.equal(await keys.refetch(), false)
  t.ok(performance.now() - startedAt < 3_000)
  t.equal(keys.find('one', 'ES256'), 'never-had')
})

for (const [what, answer] of [
  ['a redirect', { status: 302, headers: { Location: '/elsewhere' }, body: '' }],
  ['no JSON', { status: 200, headers: {}, body: '<html>' }],
  ['a list', { status: 200, headers: {}, body: '[]' }],
  ['no key for the algorithms', { status: 200, headers: {}, body: '{"keys":[]}' }],
  [
    'too many bytes',
    { status: 200, headers: {}, body: JSON.stringify({ keys: [key.jwk], x: 'x'.repeat(responseBytesMax) }) },
  ],
  [
    'too many keys',
    { status: 200, headers: {}, body: JSON.stringify({ keys: Array(publicKeysMax + 1).fill(key.jwk) }) },
  ],
  ['an error', { status: 404, headers: {}, body: JSON.stringify({ keys: [key.jwk] }) }],
] as const) {
  t.test(`${what} in place of keys leaves those that are known`, async (t) => {
    const issuer = await startIssuer(t, [key])
    const keys = open(t, issuer)
    await keys.settled()
    const seen = issuer.seen.length
    issuer.state.answer = (_, response) => response.writeHead(answer.status, answer.headers).end(answer.body)
    keys.time.nowMs += refetchGapMs
    t.equal(await keys.refetch(), false)
    t.equal(keys.has('one'), true)
    t.equal(issuer.seen.length, seen + 1, 'and nothing else is asked for')
  })
}

t.test('as many keys and bytes as are allowed are taken', async (t) => {
  const many = Array.from({ length: publicKeysMax }, (_, index) => ({ ...key.jwk, kid: `k${index}` }))
  t.equal(parsePublicKeys({ keys: many }, ['ES256']).length, publicKeysMax)
  const issuer = await startIssuer(t, [key])
  const rest = responseBytesMax - JSON.stringify({ keys: [key.jwk], x: '' }).length
  issuer.state.answer = (_, response) =>
    response.end(JSON.stringify({ keys: [key.jwk], x: 'x'.repeat(rest) }))
  const keys = open(t, issuer)
  await keys.settled()
  t.equal(keys.has('one'), true)
})
