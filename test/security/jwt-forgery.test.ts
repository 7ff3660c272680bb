import { createHmac, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { ask, jwksPath, revokeTokenPath } from '../gateway/support/ask.ts'
import { startBoth } from '../setup/both.ts'

type Members = Readonly<Record<string, unknown>>

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const ecdsa = (key: KeyObject) => (text: string) =>
  sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')
const hmac = (secret: string | Buffer) => (text: string) =>
  createHmac('sha256', secret).update(text).digest('base64url')

function make(header: Members, claims: Members, signer: (text: string) => string): string {
  const text = `${encode(header)}.${encode(claims)}`
  return `${text}.${signer(text)}`
}

/** A gateway whose signing key the test knows, and a live session to forge tokens of. */
async function start(t: Test) {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-jwt-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const file = join(dir, 'key.pem')
  writeFileSync(file, privateKey.export({ format: 'pem', type: 'pkcs8' }))
  const keys = [{ kid: 'mine', private: { file }, use: 'sign' }]
  const { backend, gateway } = await startBoth(t, { config: { tokens: { keys } } })
  const tokens = await gateway.tokens(await gateway.createAccount())
  const parts = tokens.JwtToken.split('.').map((part) => Buffer.from(part, 'base64url').toString('latin1'))
  const [header, claims] = parts.slice(0, 2).map((part): Members => JSON.parse(part))
  if (!header || !claims) throw new Error('no token')
  const send = (token: string, path = '/bearer') =>
    ask(t, gateway.url, `GET ${path}`, [`Authorization: Bearer ${token}`])
  return { gateway, backend, tokens, header, claims, send, signer: ecdsa(privateKey), privateKey }
}

t.test('a token not signed by the gateway exactly as it is, is refused', async (t) => {
  const { gateway, backend, tokens, header, claims, send, privateKey } = await start(t)
  const publicKey = createPublicKey(privateKey)
  const pem = publicKey.export({ format: 'pem', type: 'spki' }).toString()
  const [jwk] = (await ask(t, gateway.url, `GET ${jwksPath}`)).json().keys as Members[]
  const foreign = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const foreignJwk = foreign.publicKey.export({ format: 'jwk' })
  const [head = '', body = '', signature = ''] = tokens.JwtToken.split('.')
  const admin = { ...claims, role: 'Admin' }
  const none = () => ''
  const der = sign('sha256', Buffer.from(`${head}.${body}`), privateKey).toString('base64url')
  const forged: Readonly<Record<string, string>> = {
    'alg none': make({ ...header, alg: 'none' }, claims, none),
    'alg None': make({ ...header, alg: 'None' }, claims, none),
    'alg none with the signature': `${encode({ ...header, alg: 'none' })}.${body}.${signature}`,
    'no alg': make({ typ: header.typ, kid: header.kid }, claims, none),
    'HS256 with the PEM': make({ ...header, alg: 'HS256' }, admin, hmac(pem)),
    'HS256 with the trimmed PEM': make({ ...header, alg: 'HS256' }, admin, hmac(pem.trim())),
    'HS256 with the DER': make(
      { ...header, alg: 'HS256' },
      admin,
      hmac(publicKey.export({ format: 'der', type: 'spki' })),
    ),
    'HS256 with the JWK': make({ ...header, alg: 'HS256' }, admin, hmac(JSON.stringify(jwk))),
    'HS256 with nothing': make({ ...header, alg: 'HS256' }, admin, hmac('')),
    'a key of its own': make({ ...header, jwk: foreignJwk }, admin, ecdsa(foreign.privateKey)),
    'a key set of its own': make(
      { ...header, jku: 'http://127.0.0.1:1/jwks' },
      admin,
      ecdsa(foreign.privateKey),
    ),
    'a certificate of its own': make(
      { ...header, x5u: 'http://127.0.0.1:1/x', x5c: ['MA=='] },
      admin,
      ecdsa(foreign.privateKey),
    ),
    'another key under the same kid': make(header, admin, ecdsa(foreign.privateKey)),
    'another role under the same signature': `${head}.${encode(admin)}.${signature}`,
    'another header under the same signature': `${encode({ ...header, x: 1 })}.${body}.${signature}`,
    'no signature': `${head}.${body}.`,
    'no signature, no point': `${head}.${body}`,
    'a signature of zeros': `${head}.${body}.${Buffer.alloc(64).toString('base64url')}`,
    'a signature cut short': `${head}.${body}.${signature.slice(0, -8)}`,
    'a longer signature': `${head}.${body}.${signature}AAAA`,
    'a DER signature': `${head}.${body}.${der}`,
    'a signature of another token': `${head}.${body}.${(await gateway.tokens(await gateway.createAccount())).JwtToken.split('.')[2]}`,
    'four parts': `${tokens.JwtToken}.${signature}`,
    'five parts': `${head}.${body}.${signature}.${body}.${signature}`,
    'one part': head,
    'only points': '..',
    'not base64': `${head}.${body}.*`,
    'not JSON': `${Buffer.from('{').toString('base64url')}.${body}.${signature}`,
    'not UTF-8': `${Buffer.from([0xff, 0xfe]).toString('base64url')}.${body}.${signature}`,
    'very long': `${head}.${'A'.repeat(10_000)}.${signature}`,
  }
  for (const [name, token] of Object.entries(forged)) {
    const response = await send(token)
    t.equal(response.status, 401, name)
    t.equal(response.json().code, 'token-invalid', name)
    t.match(response.headers['www-authenticate'], 'error="invalid_token"')
    t.equal((await send(token, '/optional')).status, 401, `${name}, where anonymous may pass`)
  }
  t.equal(backend.seen.length, 0)
  t.equal((await send(tokens.JwtToken)).status, 200, 'while the token itself is good')
})

t.test("a token with another header than the gateway's is refused", async (t) => {
  const { header, claims, send, signer } = await start(t)
  t.equal((await send(make(header, claims, signer))).status, 200, 'this one is as ours')
  for (const change of [
    { typ: 'JWT' },
    { typ: undefined },
    { typ: 'application/at+jwt' },
    { typ: ['at+jwt'] },
    { kid: undefined },
    { kid: '' },
    { kid: 'other' },
    { kid: '../mine' },
    { kid: '/dev/null' },
    { kid: "mine' OR '1'='1" },
    { kid: ['mine'] },
    { kid: { toString: 'mine' } },
    { kid: '__proto__' },
    { kid: 'constructor' },
    { alg: 'es256' },
    { alg: 'ES384' },
    { alg: 'RS256' },
    { alg: ['ES256'] },
    { crit: ['exp'] },
    { crit: ['b64'], b64: false },
  ]) {
    const response = await send(make({ ...header, ...change }, claims, signer))
    t.equal(response.status, 401, JSON.stringify(change))
    t.equal(response.json().code, 'token-invalid', JSON.stringify(change))
  }
})

t.test('a token with missing or wrong claims is refused', async (t) => {
  const { gateway, header, claims, send, signer, tokens } = await start(t)
  const now = Math.floor(Date.now() / 1_000)
  const other = await gateway.tokens(await gateway.createAccount())
  for (const [change, code] of [
    ...Object.keys(claims).map((name) => [{ [name]: undefined }, 'token-invalid'] as const),
    ...['iss', 'aud', 'sub', 'sid', 'role', 'jti'].map((name) => [{ [name]: 7 }, 'token-invalid'] as const),
    [{ iss: 'http://evil.example' }, 'token-invalid'],
    [{ iss: [claims.iss] }, 'token-invalid'],
    [{ aud: 'other' }, 'token-invalid'],
    [{ aud: ['other'] }, 'token-invalid'],
    [{ aud: {} }, 'token-invalid'],
    [{ exp: now - 60 }, 'token-expired'],
    [{ exp: String(now + 60) }, 'token-invalid'],
    [{ exp: null }, 'token-invalid'],
    [{ exp: -1 }, undefined],
    [{ exp: [now + 60] }, 'token-invalid'],
    [{ iat: now + 3_600 }, 'token-invalid'],
    [{ iat: '0' }, 'token-invalid'],
    [{ role: 'Admin' }, 'token-revoked'],
    [{ sub: other.Id }, 'token-revoked'],
    [{ sub: 'nobody' }, 'token-revoked'],
    [{ sub: '__proto__' }, 'token-revoked'],
    [{ sid: 'nothing' }, 'token-revoked'],
    [{ nbf: 1e20 }, undefined],
  ] as const) {
    const response = await send(make(header, { ...claims, ...change }, signer))
    const isHarmless = 'nbf' in change
    t.equal(response.status, isHarmless ? response.status : 401, JSON.stringify(change))
    t.ok(response.status < 500)
    if (code !== undefined) t.equal(response.json().code, code, JSON.stringify(change))
  }
  await gateway.post(revokeTokenPath, { token: tokens.RefreshToken })
  const [head = '', body = ''] = tokens.JwtToken.split('.')
  const again = `${head}.${body}.${signer(`${head}.${body}`)}`
  t.equal((await send(again)).json().code, 'token-revoked', 'another signature does not bring a session back')
})
