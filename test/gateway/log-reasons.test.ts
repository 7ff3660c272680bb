import { createServer } from 'node:https'
import t, { type Test } from 'tap'
import { startBackend } from '../setup/backend.ts'
import { startBoth } from '../setup/both.ts'
import { makeCertificate } from '../setup/certificates.ts'
import { startGateway, type TestGateway } from '../setup/gateway.ts'
import { portOf, until } from '../setup/net.ts'
import { ask } from './support/ask.ts'
import { addKey } from './support/further-keys.ts'

/** The line of the latest request, of which there are so many. */
async function lineOf({ logLines }: TestGateway, count: number) {
  return until('the request is logged', () => {
    const lines = logLines.map((text) => JSON.parse(text)).filter(({ msg }) => msg === 'request')
    return lines.length >= count ? lines.at(-1) : undefined
  })
}

/** The reason in that line. */
async function reasonOf(gateway: TestGateway, count: number): Promise<unknown> {
  const { reason } = await lineOf(gateway, count)
  return reason
}

t.test('the log says why an access token is invalid, and the response does not', async (t) => {
  let aheadMs = 60_000
  const gateway = await startGateway(t, { clock: () => Date.now() + aheadMs })
  const { JwtToken } = await gateway.tokens(await gateway.createAccount())
  aheadMs = 0
  const [head = '', payload = '', signature = ''] = JwtToken.split('.')
  const forged = `${head}.${payload}.${Buffer.alloc(64, 1).toString('base64url')}`
  const ofOther = Buffer.from(JSON.stringify({ typ: 'at+jwt', alg: 'ES256', kid: 'x' })).toString('base64url')
  const expected: readonly (readonly [token: string, reason: RegExp])[] = [
    [JwtToken, /^iat is \d\d s in the future$/],
    [`${ofOther}.${payload}.${signature}`, /^unknown kid$/],
    [forged, /^bad signature$/],
    [forged, /^bad signature$/],
    ['none', /^malformed$/],
  ]
  const answers = new Set<string>()
  for (const [index, [token, reason]] of expected.entries()) {
    const response = await ask(t, gateway.url, 'GET /bearer', [`Authorization: Bearer ${token}`])
    t.match(response.json(), { status: 401, code: 'token-invalid' })
    answers.add(JSON.stringify({ ...response.json(), requestId: '' }))
    // The first request was that for the token.
    t.match(await reasonOf(gateway, index + 2), reason)
  }
  t.equal(answers.size, 1, 'they are all alike')
})

t.test('the log says whose key has expired, and whose account is disabled', async (t) => {
  const gateway = await startGateway(t)
  const { account, secretKey } = await gateway.createAccount()
  const expired = await addKey(gateway, account.id, { name: 'ci', expiresAt: Date.now() - 1 })
  const old = await ask(t, gateway.url, 'GET /any', [`SecretKey: ${expired}`])
  t.match(old.json(), { status: 401, code: 'secret-key-expired' })
  t.notMatch(old.body, account.id)
  t.equal(await reasonOf(gateway, 1), `key "ci" of account ${account.id}`)
  await gateway.operate(({ accounts }) => accounts.update(account.id, { isDisabled: true }))
  const disabled = await ask(t, gateway.url, 'GET /any', [`SecretKey: ${secretKey}`])
  t.match(disabled.json(), { status: 403, code: 'account-disabled' })
  t.equal(await reasonOf(gateway, 2), `account ${account.id}`)
})

t.test('the log says for whom no token was issued, and the response does not', async (t) => {
  const gateway = await startGateway(t)
  const { account, secretKey, apiKey } = await gateway.createAccount()
  const { id } = account
  const expired = await addKey(gateway, id, { name: 'ci', expiresAt: Date.now() - 1 })
  const elsewhere = await addKey(gateway, id, { name: 'office', addresses: ['192.0.2.1'] })
  let count = 0
  const assertNamed = async (key: string, code: string, reason: string | undefined) => {
    const form = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: apiKey,
      client_secret: key,
    })
    for (const response of [
      await gateway.post('/api/v1/accounts/access-token', { SecretKey: key, APIKey: apiKey }),
      await fetch(`${gateway.url}/api/v1/oauth/token`, { method: 'POST', body: form }),
    ]) {
      t.ok(response.status >= 400, code)
      t.notMatch(await response.text(), id)
      const line = await lineOf(gateway, ++count)
      t.match(line, { code, accountId: id })
      t.equal(line.reason, reason, code)
    }
  }
  await assertNamed(expired, 'secret-key-expired', `key "ci" of account ${id}`)
  await assertNamed(elsewhere, 'address-forbidden', undefined)
  await gateway.operate(({ accounts }) => accounts.update(id, { isDisabled: true }))
  await assertNamed(secretKey, 'account-disabled', undefined)
})

t.test('the log says which of several limits of one code was exceeded', async (t) => {
  const { gateway } = await startBoth(t, {
    config: {
      routes: [
        { name: 'any', path: '/any', upstream: 'backend', auth: 'any' },
        {
          name: 'limited',
          path: '/limited',
          upstream: 'backend',
          auth: 'any',
          rateLimit: { limit: 1, per: '24h' },
        },
      ],
      plans: {
        slow: { rateLimit: { limit: 1, per: '24h' } },
        small: { quota: { limit: 1, per: 'month' } },
      },
    },
  })
  const [slow, small, free] = [
    await gateway.createAccount({ plan: 'slow' }),
    await gateway.createAccount({ plan: 'small' }),
    await gateway.createAccount(),
  ]
  const limitedKey = await addKey(gateway, free.account.id, {
    name: 'ci',
    quota: { id: 'q1', limit: 1, per: 'month' },
  })
  const expected: readonly (readonly [
    path: string,
    key: string,
    code: string,
    reason: string | undefined,
  ])[] = [
    ['/any', slow.secretKey, 'rate-limited', 'the rate of the plan'],
    ['/any', small.secretKey, 'quota-exceeded', 'the quota of the plan'],
    ['/any', limitedKey, 'quota-exceeded', 'the quota of the key'],
    ['/limited', free.secretKey, 'rate-limited', undefined],
  ]
  for (const [index, [path, key, code, reason]] of expected.entries()) {
    const request = () => ask(t, gateway.url, `GET ${path}`, [`SecretKey: ${key}`])
    t.equal((await request()).status, 200)
    t.match((await request()).json(), { status: 429, code, detail: /the plan/ }, 'the client is told of all')
    t.equal(await reasonOf(gateway, index * 2 + 2), reason, path)
  }
})

/** What the log says of a backend that cannot be reached. */
async function reasonOfTarget(t: Test, url: string): Promise<unknown> {
  const gateway = await startGateway(t, { config: { upstreams: { backend: { targets: [{ url }] } } } })
  t.equal((await ask(t, gateway.url, 'GET /public')).status, 502)
  return reasonOf(gateway, 1)
}

t.test('the log names an https:// target that speaks plain HTTP', async (t) => {
  const { url } = await startBackend(t)
  t.equal(
    await reasonOfTarget(t, url.replace('http:', 'https:')),
    'the target does not speak TLS: use http:// instead of https://',
  )
})

t.test('the log says what to configure for a backend with an unknown CA', async (t) => {
  const server = createServer(makeCertificate(t, 'DNS:localhost'))
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)))
  t.teardown(() => server.close())
  const reason = await reasonOfTarget(t, `https://localhost:${portOf(server)}`)
  t.equal(reason, 'self-signed certificate; set tls.ca of the upstream to its CA certificate')
})

t.test('the log names the other site of a form refused as cross-site', async (t) => {
  const gateway = await startGateway(t, { config: { publicUrl: 'https://api.example.com' } })
  const secret = `gsk_${'a'.repeat(16)}_${'b'.repeat(43)}`
  const expected: readonly (readonly [fields: readonly string[], reason: string])[] = [
    [
      ['Origin: http://localhost:8080'],
      'Origin http://localhost:8080 is not publicUrl https://api.example.com',
    ],
    [['Sec-Fetch-Site: cross-site', 'Origin: https://api.example.com'], 'Sec-Fetch-Site is cross-site'],
    [['Sec-Fetch-Site: cross-site'], 'Sec-Fetch-Site is cross-site'],
    [
      [`Origin: https://user:word@evil.example/${secret}?q=1`],
      'Origin https://evil.example is not publicUrl https://api.example.com',
    ],
    [[`Origin: ${secret}`], 'Origin unreadable is not publicUrl https://api.example.com'],
    [
      [`Origin: https://${'x'.repeat(9_000)}`],
      `Origin https://${'x'.repeat(92)} is not publicUrl https://api.example.com`,
    ],
    [[`Sec-Fetch-Site: ${secret}`], 'Sec-Fetch-Site is unreadable'],
  ]
  for (const [index, [fields, reason]] of expected.entries()) {
    const response = await ask(t, gateway.url, 'POST /portal/sign-in', [...fields, 'Content-Length: 0'])
    t.equal(response.status, 403)
    t.notMatch(response.body, 'publicUrl')
    t.equal(await reasonOf(gateway, index + 1), reason)
  }
})
