import { createPublicKey, verify } from 'node:crypto'
import t from 'tap'
import { startGateway, storeDrivers } from '../setup/gateway.ts'
import { until } from '../setup/net.ts'
import { ask, jwksPath } from './support/ask.ts'

type Jwk = Readonly<Record<string, string>>

/** Checks a token as a backend would, with nothing but the JWKS. */
function isSignedBy(token: string, keys: readonly Jwk[]): boolean {
  const [header = '', payload = '', signature = ''] = token.split('.')
  const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString()) as { readonly kid: string }
  const jwk = keys.find((key) => key.kid === kid)
  if (!jwk) return false
  const key = createPublicKey({ key: jwk, format: 'jwk' })
  const digest = jwk.alg === 'EdDSA' ? null : 'sha256'
  const options = jwk.alg === 'ES256' ? { key, dsaEncoding: 'ieee-p1363' as const } : key
  return verify(digest, Buffer.from(`${header}.${payload}`), options, Buffer.from(signature, 'base64url'))
}

const publicMembers: Readonly<Record<string, readonly string[]>> = {
  ES256: ['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y'],
  RS256: ['alg', 'e', 'kid', 'kty', 'n', 'use'],
  EdDSA: ['alg', 'crv', 'kid', 'kty', 'use', 'x'],
}

for (const driver of storeDrivers) {
  for (const [algorithm, members] of Object.entries(publicMembers)) {
    t.test(`${algorithm} tokens can be verified with the JWKS alone, on ${driver}`, async (t) => {
      const gateway = await startGateway(t, { driver, config: { tokens: { algorithm } } })
      const response = await ask(t, gateway.url, `GET ${jwksPath}`)
      t.equal(response.status, 200)
      t.match(response.headers['content-type'], /^application\/(jwk-set\+)?json/)
      t.match(response.headers['cache-control'], /^public, max-age=[1-9]\d*$/)
      t.equal(response.headers['set-cookie'], undefined)
      const { keys } = response.json() as { readonly keys: readonly Jwk[] }
      t.equal(keys.length, 1)
      t.strictSame(Object.keys(keys[0] ?? {}).toSorted(), members, 'nothing private')
      const { JwtToken } = await gateway.tokens(await gateway.createAccount())
      t.ok(isSignedBy(JwtToken, keys))
      const head = await ask(t, gateway.url, `HEAD ${jwksPath}`)
      t.equal(head.status, 200)
      t.equal(head.headers['content-length'], response.headers['content-length'])
    })
  }
}

t.test('the JWKS never contains an HS256 secret', async (t) => {
  const gateway = await startGateway(t, { config: { tokens: { algorithm: 'HS256' } } })
  await gateway.tokens(await gateway.createAccount())
  t.strictSame((await ask(t, gateway.url, `GET ${jwksPath}`)).json(), { keys: [] })
})

for (const driver of storeDrivers) {
  t.test(`the JWKS announces a key before it signs and drops a retired one, on ${driver}`, async (t) => {
    const gateway = await startGateway(t, { driver })
    const account = await gateway.createAccount()
    const before = await gateway.tokens(account)
    const kids = async () => {
      const { keys } = (await ask(t, gateway.url, `GET ${jwksPath}`)).json() as {
        readonly keys: readonly Jwk[]
      }
      return keys.map(({ kid }) => kid)
    }
    const call = ({ JwtToken }: { readonly JwtToken: string }) =>
      ask(t, gateway.url, 'GET /bearer', [`Authorization: Bearer ${JwtToken}`])
    const [old = ''] = await kids()
    const next = await gateway.operate(({ signingKeys }) => signingKeys.rotate('announced'))
    await until('the next key is announced', async () => (await kids()).includes(next.kid))
    t.strictSame((await kids()).toSorted(), [old, next.kid].toSorted())
    const kidOf = ({ JwtToken }: { readonly JwtToken: string }) =>
      JSON.parse(Buffer.from(JwtToken.split('.')[0] ?? '', 'base64url').toString()).kid
    t.equal(kidOf(await gateway.tokens(account)), old, 'it does not sign yet')
    const now = await gateway.operate(({ signingKeys }) => signingKeys.rotate('now'))
    await until('the newest key signs', async () => kidOf(await gateway.tokens(account)) === now.kid)
    t.not((await call(before)).status, 401, 'the old key still verifies')
    await gateway.operate(({ signingKeys }) => signingKeys.retire(old))
    const refused = await until('the old key is forgotten', async () => {
      const response = await call(before)
      return response.status === 401 ? response : undefined
    })
    t.equal(refused.json().code, 'token-invalid')
    t.notOk((await kids()).includes(old))
  })
}
