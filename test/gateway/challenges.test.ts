import t from 'tap'
import { ask as askHttp2, connectHttp2 } from '../http/h2/ask.ts'
import { startBoth } from '../setup/both.ts'
import { isApp, startGateway } from '../setup/gateway.ts'
import { accessTokenPath, ask, askJson, refreshTokenPath, revokeTokenPath } from './support/ask.ts'
import { assertProblem } from './support/problem.ts'
import { assertRefusals } from './support/refusals.ts'

const key = 'SecretKey realm="gatehouse"'
const bearer = 'Bearer realm="gatehouse"'
const either = `${key}\n${bearer}`
const wrongToken = `${bearer}, error="invalid_token"`

t.test('every refused credential has its error code and a WWW-Authenticate challenge', async (t) => {
  let aheadMs = 0
  const { backend, gateway } = await startBoth(t, { clock: () => Date.now() + aheadMs })
  const user = await gateway.createAccount({ isVerified: false })
  const off = await gateway.createAccount()
  const expired = await gateway.tokens(user)
  aheadMs = 3_600_000
  const offTokens = await gateway.tokens(off)
  await gateway.operate(({ accounts }) => accounts.update(off.account.id, { isDisabled: true }))
  const { JwtToken } = await gateway.tokens(user)
  const revoked = await gateway.tokens(user)
  await gateway.post(revokeTokenPath, { token: revoked.RefreshToken })

  const secretKey = `SecretKey: ${user.secretKey}`
  const token = (text: string) => `Authorization: Bearer ${text}`
  const asJson = (body: unknown) => ({
    headers: ['Content-Type: application/json'],
    body: JSON.stringify(body),
  })
  const wrongPair = { ...asJson({ SecretKey: 'a', APIKey: 'b' }), challenge: key }
  const off403 = asJson({ SecretKey: off.secretKey, APIKey: off.apiKey })
  const refused = (text: string) => ({ headers: [token(text)], challenge: wrongToken })
  const refresh = (text: string) => ({ ...asJson({ token: text }), challenge: bearer })
  const issue = `POST ${accessTokenPath}`
  const rotate = `POST ${refreshTokenPath}`
  const both = [secretKey, token(JwtToken)]
  const notHere = '401 scheme-not-accepted'

  await assertRefusals(t, gateway.url, [
    ['no credential on a route for keys', 'GET /key', '401 credentials-missing', { challenge: key }],
    ['no credential on a route for tokens', 'GET /bearer', '401 credentials-missing', { challenge: bearer }],
    ['no credential on a route for either', 'GET /any', '401 credentials-missing', { challenge: either }],
    ['a wrong key pair', issue, '401 credentials-invalid', wrongPair],
    ['the key pair of a disabled account', issue, '403 account-disabled', off403],
    ['a wrong key', 'GET /key', '401 secret-key-invalid', { headers: ['SecretKey: x'], challenge: key }],
    ['an empty key', 'GET /key', '401 secret-key-invalid', { headers: ['SecretKey:'], challenge: key }],
    [
      'a wrong key on any',
      'GET /any',
      '401 secret-key-invalid',
      { headers: ['SecretKey: x'], challenge: either },
    ],
    ['a wrong token', 'GET /bearer', '401 token-invalid', refused('x.y.z')],
    ['an empty token', 'GET /bearer', '401 token-invalid', refused('')],
    ['a token of two words', 'GET /bearer', '401 token-invalid', refused('x y')],
    ['an expired token', 'GET /bearer', '401 token-expired', refused(expired.JwtToken)],
    ['a revoked token', 'GET /bearer', '401 token-revoked', refused(revoked.JwtToken)],
    ['a token of a disabled account', 'GET /bearer', '401 token-revoked', refused(offTokens.JwtToken)],
    ['a key on a route for tokens', 'GET /bearer', notHere, { headers: [secretKey], challenge: bearer }],
    ['a token on a route for keys', 'GET /key', notHere, { headers: [token(JwtToken)], challenge: key }],
    ['Basic', 'GET /any', notHere, { headers: ['Authorization: Basic dTpw'], challenge: either }],
    ['a wrong refresh token', rotate, '401 refresh-token-invalid', refresh('x')],
    ['a revoked refresh token', rotate, '401 session-revoked', refresh(revoked.RefreshToken)],
    ['a refresh token of a disabled account', rotate, '401 session-revoked', refresh(offTokens.RefreshToken)],
    [
      'a key of a disabled account',
      'GET /any',
      '403 account-disabled',
      { headers: [`SecretKey: ${off.secretKey}`] },
    ],
    ['an account not verified', 'GET /verified', '403 account-unverified', { headers: [secretKey] }],
    [
      'a role that may not',
      'GET /admin',
      '403 role-forbidden',
      { headers: [token(JwtToken)], challenge: `${key}\n${bearer}, error="insufficient_scope"` },
    ],
    [
      'two credentials',
      'GET /any',
      '400 credentials-ambiguous',
      { headers: both, challenge: `${key}\n${bearer}, error="invalid_request"` },
    ],
  ])
  t.equal(backend.seen.length, 0, 'none of them reached the backend')

  t.test('a reused refresh token is 401, and ends its session', async (t) => {
    const { RefreshToken } = await gateway.tokens(user)
    const next = await askJson(t, gateway.url, refreshTokenPath, { token: RefreshToken })
    await askJson(t, gateway.url, refreshTokenPath, { token: next.json().refreshToken })
    const response = await askJson(t, gateway.url, refreshTokenPath, { token: RefreshToken })
    assertProblem(t, response, { status: 401, code: 'refresh-token-reused' })
    t.equal(response.headers['www-authenticate'], bearer)
  })

  t.test('a challenge describes an invalid token as RFC 6750 requires', async (t) => {
    const response = await ask(t, gateway.url, 'GET /bearer', [token('x')])
    t.match(
      response.headers['www-authenticate'],
      /^Bearer realm="gatehouse", error="invalid_token", error_description="[ !#-[\]-~]+"$/,
    )
  })
})

t.test('an expired key is refused a token with the challenge for keys, over both versions', async (t) => {
  let aheadMs = 0
  const gateway = await startGateway(t, { clock: () => Date.now() + aheadMs })
  const user = await gateway.createAccount()
  const SecretKey = await gateway.operate(({ secretKeys }) => {
    const expiresAt = Date.now() + 60_000
    return secretKeys.create(user.account.id, { name: 'brief', scopes: [], addresses: [], expiresAt })
  })
  aheadMs = 120_000
  const body = { SecretKey, APIKey: user.apiKey }

  const response = await askJson(t, gateway.url, accessTokenPath, body)
  assertProblem(t, response, { status: 401, code: 'secret-key-expired' })
  t.equal(response.headers['www-authenticate'], key)

  if (isApp()) return
  const session = await connectHttp2(t, gateway.url)
  const headers = { ':method': 'POST', 'content-type': 'application/json' }
  const { status, headers: fields } = await askHttp2(session, accessTokenPath, {
    headers,
    body: JSON.stringify(body),
  })
  t.match([status, fields['www-authenticate']], [401, key])
})
