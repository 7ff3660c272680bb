import t from 'tap'
import { startBoth } from '../setup/both.ts'
import { startGateway } from '../setup/gateway.ts'
import type { RawResponse } from '../setup/raw-client.ts'
import { accessTokenPath, ask, askJson, refreshTokenPath, revokeTokenPath } from './support/ask.ts'
import { assertProblem } from './support/problem.ts'

const cases: {
  readonly name: string
  readonly config: Readonly<Record<string, unknown>>
  readonly cookie: string
  readonly attributes: readonly string[]
}[] = [
  {
    name: 'an https publicUrl makes the cookie Secure',
    config: { publicUrl: 'https://api.example.com' },
    cookie: 'refreshToken',
    attributes: ['HttpOnly', 'Path=/api/v1/accounts', 'SameSite=Strict', 'Secure'],
  },
  {
    name: 'a __Host- cookie meets the rules of its name',
    config: { publicUrl: 'https://api.example.com', cookie: { name: '__Host-session', path: '/' } },
    cookie: '__Host-session',
    attributes: ['HttpOnly', 'Path=/', 'SameSite=Strict', 'Secure'],
  },
  {
    name: 'a __Secure- cookie meets the rules of its name',
    config: { publicUrl: 'https://api.example.com', cookie: { name: '__Secure-rt', sameSite: 'None' } },
    cookie: '__Secure-rt',
    attributes: ['HttpOnly', 'Path=/api/v1/accounts', 'SameSite=None', 'Secure'],
  },
  {
    name: 'name, path, sameSite and secure are as configured',
    config: { cookie: { name: 'rt', path: '/x/y', sameSite: 'Lax', secure: true } },
    cookie: 'rt',
    attributes: ['HttpOnly', 'Path=/x/y', 'SameSite=Lax', 'Secure'],
  },
  {
    name: 'secure: false holds behind an https publicUrl too',
    config: { publicUrl: 'https://api.example.com', cookie: { secure: false } },
    cookie: 'refreshToken',
    attributes: ['HttpOnly', 'Path=/api/v1/accounts', 'SameSite=Strict'],
  },
]

/** One cookie of an answer, taken apart. */
function parseSetCookie({ headers }: RawResponse) {
  const [pair = '', ...parts] = String(headers['set-cookie']).split('; ')
  const isAge = (part: string) => /^(Max-Age|Expires)=/.test(part)
  return {
    name: pair.slice(0, pair.indexOf('=')),
    value: pair.slice(pair.indexOf('=') + 1),
    attributes: parts.filter((part) => !isAge(part)).toSorted(),
    age: parts.filter(isAge),
  }
}

for (const { name, config, cookie, attributes } of cases) {
  t.test(name, async (t) => {
    const gateway = await startGateway(t, { config })
    const { secretKey, apiKey } = await gateway.createAccount()
    const pair = { SecretKey: secretKey, APIKey: apiKey }
    const issued = parseSetCookie(await askJson(t, gateway.url, accessTokenPath, pair))
    t.match(issued, { name: cookie, attributes, age: ['Max-Age=604800'] })
    const send = (path: string, value: string) =>
      ask(t, gateway.url, `POST ${path}`, [`Cookie: ${cookie}=${value}`])
    const refreshed = parseSetCookie(await send(refreshTokenPath, issued.value))
    t.match(refreshed, { name: cookie, attributes, age: ['Max-Age=604800'] })
    t.not(refreshed.value, issued.value)
    const cleared = parseSetCookie(await send(revokeTokenPath, refreshed.value))
    t.match(cleared, { name: cookie, value: '', attributes })
    t.ok(cleared.age.includes('Max-Age=0'), 'cleared with the attributes that it was set with')
    if (cookie !== 'refreshToken') {
      const other = await ask(t, gateway.url, `POST ${refreshTokenPath}`, [
        `Cookie: refreshToken=${refreshed.value}`,
      ])
      assertProblem(t, other, { status: 400, code: 'request-invalid' })
    }
  })
}

t.test('the refresh cookie expires when its session would at the latest', async (t) => {
  const tokens = { refreshLifetime: '90s', refreshIdle: '1h' }
  const gateway = await startGateway(t, { config: { tokens } })
  const { secretKey, apiKey } = await gateway.createAccount()
  const response = await askJson(t, gateway.url, accessTokenPath, { SecretKey: secretKey, APIKey: apiKey })
  t.strictSame(parseSetCookie(response).age, ['Max-Age=90'])
})

t.test('a store outage clears no refresh cookie, and the session continues afterwards', async (t) => {
  const gateway = await startBoth(t, { driver: 'redis' })
  const { RefreshToken } = await gateway.tokens(await gateway.createAccount())
  const cookie = [`Cookie: refreshToken=${RefreshToken}`]
  gateway.redis?.signal('SIGSTOP')
  const refused = await ask(t, gateway.url, `POST ${refreshTokenPath}`, cookie)
  assertProblem(t, refused, { status: 503, code: 'store-unavailable' })
  t.equal(refused.headers['set-cookie'], undefined)
  gateway.redis?.signal('SIGCONT')
  t.equal((await ask(t, gateway.url, `POST ${refreshTokenPath}`, cookie)).status, 200)
})
