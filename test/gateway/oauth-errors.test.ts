import t, { type Test } from 'tap'
import { notInApp, startGateway } from '../setup/gateway.ts'
import { ask } from './support/ask.ts'
import { addKey } from './support/further-keys.ts'
import { readDocument } from './support/openapi.ts'

const tokenPath = '/api/v1/oauth/token'
const introspectPath = '/api/v1/oauth/introspect'
const revokePath = '/api/v1/oauth/revoke'
const form = 'Content-Type: application/x-www-form-urlencoded'
const basic = (id: string, secret: string) =>
  `Authorization: Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`

async function start(t: Test, config: Readonly<Record<string, unknown>> = {}) {
  const gateway = await startGateway(t, { config })
  const created = await gateway.createAccount()
  const described = await readDocument(gateway.url)
  const post = async (
    path: string,
    body: string | Record<string, string>,
    headers: readonly string[] = [],
  ) => {
    const text = typeof body === 'string' ? body : new URLSearchParams(body).toString()
    const response = await ask(t, gateway.url, `POST ${path}`, [form, ...headers], text)
    described.assert(t, `POST ${path}`, response)
    t.equal(response.headers['cache-control'], 'no-store')
    return response
  }
  /** Status and error, as RFC 6749 5.2 has them. */
  const errorOf = async (...request: Parameters<typeof post>) => {
    const response = await post(...request)
    t.match(response.headers['content-type'], /^application\/json(?:;|$)/)
    const { error, error_description: description, ...others } = response.json()
    t.strictSame(others, {}, 'nothing else')
    t.match(description, /^[ !#-[\]-~]+$/)
    if (response.status === 401) t.match(response.headers['www-authenticate'], /^Basic realm="gatehouse"/)
    return `${response.status} ${error}`
  }
  return { gateway, created, post, errorOf }
}

t.test('every error of the token endpoint is one of RFC 6749 5.2', async (t) => {
  const { gateway, created, post, errorOf } = await start(t)
  const { apiKey, secretKey } = created
  const grant = { grant_type: 'client_credentials' }
  const right = { ...grant, client_id: apiKey, client_secret: secretKey }
  const auth = basic(apiKey, secretKey)
  t.equal((await post(tokenPath, right)).status, 200)
  t.equal((await post(tokenPath, grant, [auth])).status, 200)
  t.equal((await post(tokenPath, { ...grant, client_id: apiKey }, [auth])).status, 200, 'named twice alike')
  t.equal((await post(tokenPath, { ...right, scope: '' })).status, 200, 'no value = left out')
  t.equal((await post(tokenPath, { ...right, other: 'x' })).status, 200, 'others are ignored')

  const invalid: readonly (readonly [body: string | Record<string, string>, ...headers: string[]])[] = [
    [''],
    [{ grant_type: '' }],
    [`grant_type=client_credentials&grant_type=client_credentials`, auth],
    [`${new URLSearchParams(right)}&client_id=x`],
    [`${new URLSearchParams(right)}&other=1&other=2`],
    ['a&'.repeat(101)],
    [right, auth],
    [{ ...grant, client_id: 'another' }, auth],
    [{ ...grant, client_secret: secretKey }],
    [grant, auth, auth],
    [grant, auth, 'Sec-Fetch-Site: cross-site'],
    [grant, auth, 'Origin: https://evil.example'],
    [{ grant_type: 'refresh_token' }],
  ]
  for (const [body, ...headers] of invalid)
    t.equal(await errorOf(tokenPath, body, headers), '400 invalid_request', JSON.stringify([body, headers]))

  for (const type of ['password', 'authorization_code', 'CLIENT_CREDENTIALS', 'toString'])
    t.equal(await errorOf(tokenPath, { ...right, grant_type: type }), '400 unsupported_grant_type', type)

  const other = await gateway.createAccount()
  const clients: readonly (readonly [Record<string, string>, ...string[]])[] = [
    [grant],
    [{ ...grant, client_id: apiKey }],
    [{ ...right, client_secret: other.secretKey }],
    [{ ...right, client_id: other.apiKey }],
    [{ ...right, client_id: secretKey, client_secret: apiKey }],
    [{ ...right, client_id: 'x' }],
    [grant, basic(apiKey, other.secretKey)],
    [grant, basic(apiKey, '')],
    [grant, 'Authorization: Basic'],
    [grant, 'Authorization: Basic ???'],
    [grant, `Authorization: Bearer ${secretKey}`],
    [grant, `SecretKey: ${secretKey}`],
    [{ grant_type: 'refresh_token', refresh_token: 'x' }, basic(apiKey, other.secretKey)],
  ]
  for (const [body, ...headers] of clients)
    t.equal(await errorOf(tokenPath, body, headers), '401 invalid_client', JSON.stringify([body, headers]))

  for (const scope of [' a', 'a  b', 'a,b', 'a"b', 'ä', 'x'.repeat(65), 'a '.repeat(33).trim()])
    t.equal(
      (await post(tokenPath, { ...right, scope })).status,
      scope.startsWith('a a') ? 200 : 400,
      `${scope}: a name that repeats is one`,
    )
  const names = (count: number) => Array.from({ length: count }, (_, index) => `s${index}`).join(' ')
  t.equal((await post(tokenPath, { ...right, scope: names(32) })).status, 200)
  for (const count of [33, 3_200])
    t.equal(await errorOf(tokenPath, { ...right, scope: names(count) }), '400 invalid_scope')
  const limited = await addKey(gateway, created.account.id, { name: 'ci', scopes: ['a'] })
  t.equal(await errorOf(tokenPath, { ...right, client_secret: limited, scope: 'a b' }), '400 invalid_scope')
  t.match((await post(tokenPath, { ...right, client_secret: limited, scope: 'a b' })).json(), {
    error_description: 'The key or token does not have all scopes that were asked for.',
  })

  const { RefreshToken } = await gateway.tokens(created)
  const refresh = { grant_type: 'refresh_token', refresh_token: RefreshToken }
  t.equal(await errorOf(tokenPath, { ...refresh, refresh_token: 'x' }), '400 invalid_grant')
  const ofLimited = await gateway.tokens({ ...created, secretKey: limited })
  const wider = { ...refresh, refresh_token: ofLimited.RefreshToken, scope: 'a b' }
  t.equal(await errorOf(tokenPath, wider), '400 invalid_scope')
  const narrower = await post(tokenPath, { ...wider, scope: 'a' })
  t.match(narrower.json(), { scope: 'a', refresh_token: /^grt_/ }, 'the refusal has spent nothing')
  t.equal((await post(tokenPath, refresh)).status, 200)
})

t.test('what is no form is refused before a byte of it is read, and no more than 64 KiB are', async (t) => {
  const { gateway, errorOf } = await start(t)
  const types = ['application/json', 'text/plain', 'application/x-www-form-urlencoded; charset=latin1']
  for (const type of types) {
    const response = await ask(t, gateway.url, `POST ${tokenPath}`, [`Content-Type: ${type}`], '{}')
    t.match(response, { status: 400, body: /"error":"invalid_request"/ }, type)
  }
  const coded = await ask(t, gateway.url, `POST ${tokenPath}`, [form, 'Content-Encoding: gzip'], 'x')
  t.equal(coded.status, 400)
  t.equal(await errorOf(tokenPath, 'x'.repeat(65_536)), '400 invalid_request')
  for (const length of [65_537, 1_000_000])
    t.equal(await errorOf(tokenPath, 'x'.repeat(length)), '413 invalid_request', String(length))
  for (const path of [tokenPath, introspectPath, revokePath]) {
    const wrong = await ask(t, gateway.url, `GET ${path}`)
    t.match(wrong, { status: 405, headers: { allow: 'POST' }, body: /"error":"invalid_request"/ })
  }
})

t.test('a client may be form-encoded before base64, as RFC 6749 2.3.1 says', async (t) => {
  const { created, post } = await start(t)
  const encoded = (text: string) => [...text].map((each) => `%${each.charCodeAt(0).toString(16)}`).join('')
  const auth = basic(encoded(created.apiKey), encoded(created.secretKey))
  t.equal((await post(tokenPath, { grant_type: 'client_credentials' }, [auth])).status, 200)
})

t.test('wrong clients count as wrong pairs do, and a right one still passes', async (t) => {
  const { created, post, errorOf } = await start(t, { limits: { failures: { limit: 3, per: '1m' } } })
  const right = {
    grant_type: 'client_credentials',
    client_id: created.apiKey,
    client_secret: created.secretKey,
  }
  const wrong = { ...right, client_secret: 'x' }
  for (let count = 0; count < 3; count++) t.equal(await errorOf(tokenPath, wrong), '401 invalid_client')
  for (const path of [tokenPath, introspectPath, revokePath]) {
    const response = await post(path, { ...wrong, token: 'x' })
    t.match(response, { status: 429, headers: { 'retry-after': /^\d+$/, 'ratelimit-limit': '3' } }, path)
    t.equal(response.json().error, 'temporarily_unavailable')
  }
  t.equal((await post(tokenPath, right)).status, 200)
})

t.test('who may introspect: the roles and scopes of the config, by any credential', async (t) => {
  const introspection = { roles: ['Admin', 'Auditor'], scopes: ['introspect'] }
  const { gateway, created, post, errorOf } = await start(t, { tokens: { introspection } })
  const { JwtToken } = await gateway.tokens(created)
  const auditor = await gateway.createAccount({ role: 'Auditor' })
  const token = { token: JwtToken }
  const scoped = await addKey(gateway, auditor.account.id, { name: 'a', scopes: ['introspect'] })
  const other = await addKey(gateway, auditor.account.id, { name: 'b', scopes: ['orders'] })
  const own = await addKey(gateway, created.account.id, { name: 'c', scopes: ['introspect'] })
  const { JwtToken: ofAuditor } = await gateway.tokens(auditor)
  for (const header of [
    basic(auditor.apiKey, auditor.secretKey),
    basic(auditor.apiKey, scoped),
    `SecretKey: ${auditor.secretKey}`,
    `SecretKey: ${scoped}`,
    `Authorization: Bearer ${ofAuditor}`,
  ])
    t.match(
      (await post(introspectPath, token, [header])).json(),
      { active: true, sub: created.account.id },
      header,
    )
  for (const header of [
    basic(auditor.apiKey, other),
    basic(created.apiKey, created.secretKey),
    basic(created.apiKey, own),
    `SecretKey: ${other}`,
    `SecretKey: ${created.secretKey}`,
    `SecretKey: ${own}`,
    `Authorization: Bearer ${JwtToken}`,
  ])
    t.equal(await errorOf(introspectPath, token, [header]), '403 insufficient_scope', header)
  for (const headers of [[], ['SecretKey: x'], ['Authorization: Bearer x']])
    t.equal(await errorOf(introspectPath, token, headers), '401 invalid_client', String(headers))
  t.equal(await errorOf(introspectPath, {}, [`SecretKey: ${auditor.secretKey}`]), '400 invalid_request')
})

t.test('a key is no token: the revocation endpoint says where it ends', async (t) => {
  const { created, errorOf, post } = await start(t)
  for (const key of [created.secretKey, created.apiKey])
    t.equal(await errorOf(revokePath, { token: key }), '400 unsupported_token_type')
  t.equal((await post(revokePath, { token: 'x', token_type_hint: 'y' })).status, 200)
  t.equal(await errorOf(revokePath, {}), '400 invalid_request')
})

t.test('a token that a client was granted ends with its account, its key and its role', async (t) => {
  const { gateway, created, post } = await start(t)
  const admin = await gateway.createAccount({ role: 'Admin' })
  const grant = {
    grant_type: 'client_credentials',
    client_id: created.apiKey,
    client_secret: created.secretKey,
  }
  const { access_token: token } = (await post(tokenPath, grant)).json()
  const asked = async () =>
    (await post(introspectPath, { token: String(token) }, [basic(admin.apiKey, admin.secretKey)])).json()
  t.match(await asked(), { active: true })
  await gateway.operate(({ defaultKeys }) => defaultKeys.resetSecretKey(created.account.id, 0))
  const end = performance.now() + 500
  let last = await asked()
  while (last.active === true && performance.now() < end) last = await asked()
  t.strictSame(last, { active: false }, 'and nothing else is told')
})

t.test('no secret of a request is logged', async (t) => {
  const { gateway, created, post } = await start(t)
  const { apiKey, secretKey } = created
  const { access_token: token } = (
    await post(tokenPath, { grant_type: 'client_credentials', client_id: apiKey, client_secret: secretKey })
  ).json()
  await post(tokenPath, { grant_type: 'x', client_id: apiKey, client_secret: secretKey })
  await post(tokenPath, `${secretKey}=1&${secretKey}=2`)
  await post(revokePath, { token: String(token) }, [basic(apiKey, secretKey)])
  const lines = gateway.logLines.join('')
  for (const secret of [apiKey, secretKey, String(token)]) t.notOk(lines.includes(secret))
})

t.test(
  'the session of a granted token ends with it, and is no other token’s',
  { skip: notInApp('its sessions are listed by commands of a gateway') },
  async (t) => {
    const time = { nowMs: Date.now() }
    const gateway = await startGateway(t, { clock: () => time.nowMs })
    const { account, apiKey, secretKey } = await gateway.createAccount()
    const parameters = { grant_type: 'client_credentials', client_id: apiKey, client_secret: secretKey }
    const grant = () =>
      ask(t, gateway.url, `POST ${tokenPath}`, [form], new URLSearchParams(parameters).toString())
    t.equal((await grant()).json().expires_in, 600)
    await grant()
    const sessionsAt = (now: number) =>
      gateway.operate(({ store }) => store.listSessions(account.id, { now, limit: 10 }))
    t.equal((await sessionsAt(time.nowMs + 600_000)).length, 2, 'as long as its token')
    t.strictSame(
      await sessionsAt(time.nowMs + 610_000),
      [],
      'no longer than that and the tolerance of clocks',
    )
  },
)

t.test('where keys.accept has basic, the challenges of introspection name it once', async (t) => {
  const keys = { sealingKey: { file: 'sealing.key' }, accept: ['SecretKey', 'basic'] }
  const { post } = await start(t, { keys })
  const { status, headers } = await post('/api/v1/oauth/introspect', { token: 'x' })
  t.equal(status, 401)
  t.strictSame(String(headers['www-authenticate']).match(/\w+(?= realm=)/g), ['Basic', 'SecretKey', 'Bearer'])
})
