import t, { type Test } from 'tap'
import { startBoth } from '../setup/both.ts'
import { notInApp } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { createOldKey } from '../setup/old-keys.ts'
import { accessTokenPath, ask, askJson } from './support/ask.ts'

const noRequestLog = { skip: notInApp('an app logs its requests itself') }

async function start(t: Test, accept: readonly string[]) {
  const keys = { sealingKey: { file: 'sealing.key' }, accept }
  const gateway = await startBoth(t, { config: { keys } })
  const user = await gateway.createAccount()
  return { gateway, user, tokens: await gateway.tokens(user) }
}

const basic = (password: string) =>
  `Authorization: Basic ${Buffer.from(`git:${password}`).toString('base64')}`
const bearer = (token: string) => `Authorization: Bearer ${token}`

t.test('a refusal says what was sent, by its form, and where it belongs', async (t) => {
  const { gateway, user, tokens } = await start(t, ['SecretKey'])
  const { secretKey, apiKey } = user
  const { JwtToken, RefreshToken } = tokens
  for (const [path, header, code, detail] of [
    [
      '/any',
      [],
      'credentials-missing',
      /^Send a secret key in the header SecretKey, or an access token as Auth/,
    ],
    ['/key', [], 'credentials-missing', /^Send a secret key in the header SecretKey\.$/],
    ['/bearer', [], 'credentials-missing', /^Send an access token as Authorization: Bearer\.$/],
    ['/any', bearer(secretKey), 'token-invalid', /^This is a secret key: send it in the header SecretKey\.$/],
    [
      '/any',
      bearer(createOldKey('secretKey', 'x'.repeat(16))),
      'token-invalid',
      /^This is a secret key: send/,
    ],
    ['/any', bearer('acme_sk_x'), 'token-invalid', /^This is a secret key/],
    [
      '/key',
      bearer(secretKey),
      'scheme-not-accepted',
      /^This is a secret key: send it in the header SecretKey/,
    ],
    [
      '/bearer',
      bearer(secretKey),
      'token-invalid',
      /^This is a secret key\. .*\/api\/v1\/accounts\/access-token/,
    ],
    ['/any', bearer(apiKey), 'token-invalid', /^This is an API key/],
    ['/any', bearer(RefreshToken), 'token-invalid', /^This is a refresh token: .*\/refresh-token/],
    ['/key', bearer(JwtToken), 'scheme-not-accepted', /^This is a JWT\. This path takes secret keys only/],
    ['/key', bearer('x'), 'scheme-not-accepted', /^This path takes secret keys only/],
    ['/any', bearer('x'), 'token-invalid', /^The access token is malformed/],
    ['/any', `SecretKey: ${apiKey}`, 'secret-key-invalid', /^This is an API key.*Send the secret key/],
    ['/any', `SecretKey: ${JwtToken}`, 'secret-key-invalid', /^This is a JWT: send .*Authorization: Bearer/],
    [
      '/key',
      `SecretKey: ${JwtToken}`,
      'secret-key-invalid',
      /^This is a JWT\. This path takes secret keys only/,
    ],
    ['/key', `SecretKey: ${RefreshToken}`, 'secret-key-invalid', /^This is a refresh token/],
    [
      '/key',
      `SecretKey: ${secretKey}x`,
      'secret-key-invalid',
      /^The secret key is malformed, unknown or has/,
    ],
    [
      '/bearer',
      `SecretKey: ${secretKey}`,
      'scheme-not-accepted',
      /^This is a secret key\. This path takes access/,
    ],
    ['/bearer', 'SecretKey: x', 'scheme-not-accepted', /^This path takes access tokens only/],
    [
      '/any',
      basic(secretKey),
      'scheme-not-accepted',
      /does not take this scheme of Authorization.* SecretKey, or/,
    ],
    ['/bearer', basic('x'), 'scheme-not-accepted', /does not take this scheme .*Send an access token/],
  ] as const) {
    // Twice: the second response comes from a cache.
    for (let turn = 0; turn < 2; turn++) {
      const response = await ask(t, gateway.url, `GET ${path}`, typeof header === 'string' ? [header] : [])
      const problem = response.json()
      t.match(problem, { status: 401, code, detail }, `${path} ${String(header).slice(0, 30)}`)
      t.notMatch(response.body, /\b(?:iss|aud)\b/)
      for (const text of [secretKey, apiKey, JwtToken, RefreshToken]) t.notOk(response.body.includes(text))
    }
  }
})

t.test('a refusal names the places that this gateway takes keys in', async (t) => {
  const { gateway, user, tokens } = await start(t, ['X-Api-Key', 'bearer', 'basic'])
  const places =
    'in the header X-Api-Key, as Authorization: Bearer or as the password of Authorization: Basic'
  for (const [path, headers, code, detail] of [
    ['/key', [], 'credentials-missing', `Send a secret key ${places}.`],
    ['/key', [`SecretKey: ${user.secretKey}`], 'credentials-missing', `Send a secret key ${places}.`],
    ['/key', [bearer(user.apiKey)], 'secret-key-invalid', /^This is an API key.*in the header X-Api-Key/],
    ['/key', [basic(user.apiKey)], 'secret-key-invalid', /^This is an API key/],
    ['/key', [basic(tokens.JwtToken)], 'secret-key-invalid', /^This is a JWT/],
    ['/key', [basic('x')], 'secret-key-invalid', /^The password of Authorization: Basic is not a secret key/],
    ['/key', ['Authorization: Basic ?'], 'secret-key-invalid', /^The password of Authorization: Basic/],
    [
      '/bearer',
      [bearer(user.secretKey)],
      'scheme-not-accepted',
      /^This is a secret key\. This path takes access/,
    ],
  ] as const) {
    const response = await ask(t, gateway.url, `GET ${path}`, headers)
    t.match(response.json(), { status: 401, code, detail }, `${path} ${headers.join().slice(0, 30)}`)
  }
})

t.test('Basic is offered where keys may come in it, for the schemes of the route', async (t) => {
  const [key, password, token] = ['SecretKey', 'Basic', 'Bearer'].map(
    (scheme) => `${scheme} realm="gatehouse"`,
  )
  for (const [accept, expected] of [
    [['SecretKey'], { '/key': [key], '/any': [key, token], '/bearer': [token] }],
    [['basic'], { '/key': [key, password], '/any': [key, password, token], '/bearer': [token] }],
    [['bearer'], { '/key': [key], '/any': [key, token], '/bearer': [token] }],
  ] as const) {
    const { gateway } = await start(t, accept)
    for (const [path, values] of Object.entries(expected)) {
      const { headers } = await ask(t, gateway.url, `GET ${path}`)
      t.equal(headers['www-authenticate'], values.join('\n'), `${accept} ${path}`)
    }
  }
})

t.test('a swapped pair gets the response of every wrong pair', async (t) => {
  const { gateway, user } = await start(t, ['SecretKey'])
  const bodyOf = async (SecretKey: string, APIKey: string) => {
    const { requestId, ...problem } = (
      await askJson(t, gateway.url, accessTokenPath, { SecretKey, APIKey })
    ).json()
    t.type(requestId, 'string')
    return problem
  }
  t.strictSame(await bodyOf(user.apiKey, user.secretKey), await bodyOf('x', 'y'))
})

t.test('a key in the query, or a presigned URL, is refused with why and what to do', async (t) => {
  const { gateway, user, tokens } = await start(t, ['SecretKey'])
  const detailOf = async (path: string, headers: readonly string[] = []) => {
    const { status, headers: fields, body, json } = await ask(t, gateway.url, `GET ${path}`, headers)
    t.match({ status, code: json().code }, { status: 401, code: 'credentials-missing' }, path)
    t.ok(fields['www-authenticate'])
    for (const secret of [user.secretKey, tokens.JwtToken]) t.notOk(body.includes(secret), 'it is not told')
    return String(json().detail)
  }
  const way = 'Send a secret key in the header SecretKey.'
  for (const query of [`api_key=${user.secretKey}`, `access_token=${tokens.JwtToken}`, `q=${user.secretKey}`])
    t.equal(
      await detailOf(`/key?${query}`),
      `A credential in the query is not accepted: URLs end up in logs, in histories and on other sites. ${way}`,
    )
  const signed = 'X-Amz-Credential=A%2Fs3&X-Amz-Signature=0'
  t.match(
    await detailOf(`/key/bucket/file?${signed}`),
    /^The URL is signed for the service behind this path.*SecretKey\.$/,
  )
  t.equal(await detailOf('/key?page=2'), way)
  const both = await ask(t, gateway.url, `GET /key?api_key=${user.secretKey}`, ['SecretKey: x'])
  t.equal(both.json().code, 'secret-key-invalid', 'only where nothing else came')
})

t.test('a key or token in the query is not logged', noRequestLog, async (t) => {
  const { gateway, user, tokens } = await start(t, ['SecretKey'])
  for (const secret of [user.secretKey, tokens.JwtToken]) {
    t.equal((await ask(t, gateway.url, `GET /key?api_key=${secret}`)).status, 401)
    await until('it is logged', () => gateway.logLines.some((line) => line.includes('/key')) || undefined)
    t.notOk(gateway.logLines.join('').includes(secret))
  }
})
