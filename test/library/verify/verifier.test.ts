import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { exportJWK, SignJWT } from 'jose'
import t, { type Test } from 'tap'
import { createVerifier, type VerifierOptions } from '#library/verify.ts'
import { startServer } from '../../setup/backend.ts'
import { startBoth } from '../../setup/both.ts'
import { until } from '../../setup/net.ts'

const identity = { assertion: { enabled: true } }
const claims = { role: 'User', scheme: 'secretKey' }

interface TestKey {
  readonly kid: string
  readonly privateKey: KeyObject
  readonly jwk: object
}

async function makeKey(kid: string): Promise<TestKey> {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return { kid, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' } }
}

/** A server of keys that can be rotated and fail, and counts who asks. */
async function startKeys(t: Test, first: TestKey) {
  const state = { keys: [first.jwk], status: 200, requests: 0 }
  const url = await startServer(t, (_request, response) => {
    state.requests++
    response.writeHead(state.status, { 'Content-Type': 'application/json' })
    response.end(JSON.stringify({ keys: state.keys }))
  })
  return { state, url }
}

interface Changes {
  readonly alg?: string
  readonly typ?: string
  readonly payload?: Readonly<Record<string, unknown>>
}

function sign({ kid, privateKey }: TestKey, { typ = 'gatehouse-assertion+jwt', payload = {} }: Changes = {}) {
  const now = Math.floor(Date.now() / 1_000)
  const all = { iss: 'https://gw', aud: 'orders', sub: 'a1', ...claims, iat: now, exp: now + 60, ...payload }
  const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
  return new SignJWT(given).setProtectedHeader({ alg: 'ES256', typ, kid }).sign(privateKey)
}

function verifierFor(url: string, options: Partial<VerifierOptions> = {}) {
  return createVerifier({ jwksUrl: url, issuer: 'https://gw', audience: 'orders', ...options })
}

async function codeOf(verified: Promise<unknown>): Promise<unknown> {
  return verified.then(
    () => 'verified',
    (error: { code?: unknown }) => error.code,
  )
}

t.test('an assertion of a gateway is verified, by either scheme', async (t) => {
  const { backend, gateway } = await startBoth(t, { config: { identity } })
  const created = await gateway.createAccount({ role: 'Editor' })
  const verifier = createVerifier({
    jwksUrl: `${gateway.url}/.well-known/jwks.json`,
    issuer: 'http://localhost:8080',
    audience: 'backend',
  })
  const verify = () => verifier.verify(String(backend.last().headers['x-gatehouse-assertion']))
  await fetch(`${gateway.url}/any`, { headers: { SecretKey: created.secretKey } })
  t.strictSame(await verify(), {
    accountId: created.account.id,
    role: 'Editor',
    scheme: 'secretKey',
    sessionId: undefined,
    scopes: [],
  })
  const { JwtToken } = await gateway.tokens(created)
  await fetch(`${gateway.url}/any`, { headers: { Authorization: `Bearer ${JwtToken}` } })
  const identified = await verify()
  t.match(identified, { accountId: created.account.id, scheme: 'bearer' })
  t.match(identified.sessionId, /./)
  t.equal(await codeOf(verifier.verify(JwtToken)), 'assertion-invalid', 'an access token is no assertion')
})

t.test('what is not an assertion of this gateway for this backend is refused', async (t) => {
  const [key, other] = [await makeKey('k1'), await makeKey('k1')]
  const { url } = await startKeys(t, key)
  const verifier = verifierFor(url)
  const now = Math.floor(Date.now() / 1_000)
  t.equal(await codeOf(verifier.verify(await sign(key))), 'verified')
  t.equal(await codeOf(verifier.verify(undefined)), 'assertion-missing')
  t.equal(await codeOf(verifier.verify('')), 'assertion-missing')
  const expired = await sign(key, { payload: { iat: now - 120, exp: now - 60 } })
  t.equal(await codeOf(verifier.verify(expired)), 'assertion-expired')
  const refused: Readonly<Record<string, string>> = {
    'another key of the same name': await sign(other),
    'another type': await sign(key, { typ: 'at+jwt' }),
    'another issuer': await sign(key, { payload: { iss: 'https://other' } }),
    'another backend': await sign(key, { payload: { aud: 'invoices' } }),
    'several backends': await sign(key, { payload: { aud: ['orders', 'invoices'] } }),
    'not yet valid': await sign(key, { payload: { nbf: now + 60 } }),
    'issued in the future': await sign(key, { payload: { iat: now + 60, exp: now + 120 } }),
    'a huge nbf': await sign(key, { payload: { nbf: 1e20 } }),
    'no expiry': await sign(key, { payload: { exp: undefined } }),
    'no subject': await sign(key, { payload: { sub: undefined } }),
    'no role': await sign(key, { payload: { role: undefined } }),
    'a role that is no text': await sign(key, { payload: { role: ['Admin'] } }),
    'two assertions': `${await sign(key)}, ${await sign(key)}`,
    'no token': 'x.y.z',
    'far too long': 'x'.repeat(1_000_000),
  }
  for (const [name, text] of Object.entries(refused))
    t.equal(await codeOf(verifier.verify(text)), 'assertion-invalid', name)
  const unsigned = [
    { alg: 'none', typ: 'gatehouse-assertion+jwt' },
    { iss: 'https://gw', aud: 'orders', sub: 'a1' },
  ]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  t.equal(await codeOf(verifier.verify(`${unsigned}.`)), 'assertion-invalid', 'alg: none')
  const symmetric = await new SignJWT({
    ...claims,
    iss: 'https://gw',
    aud: 'orders',
    sub: 'a1',
    iat: now,
    exp: now + 60,
  })
    .setProtectedHeader({ alg: 'HS256', typ: 'gatehouse-assertion+jwt', kid: 'k1' })
    .sign(Buffer.from(JSON.stringify(key.jwk)))
  t.equal(await codeOf(verifier.verify(symmetric)), 'assertion-invalid', 'HS256 with the public key')
})

t.test('the clocks may differ by the tolerance, and no more', async (t) => {
  const key = await makeKey('k1')
  const { url } = await startKeys(t, key)
  const now = Math.floor(Date.now() / 1_000)
  const assertion = await sign(key, { payload: { iat: now, exp: now + 60 } })
  const at = (seconds: number) => verifierFor(url, { clock: () => (now + seconds) * 1_000 }).verify(assertion)
  t.equal(await codeOf(at(64)), 'verified')
  t.equal(await codeOf(at(65)), 'assertion-expired')
  t.equal(await codeOf(at(-5)), 'verified')
  t.equal(await codeOf(at(-6)), 'assertion-invalid')
})

t.test('a rotation is followed, and made-up key names do not make the keys read', async (t) => {
  const [first, second] = [await makeKey('k1'), await makeKey('k2')]
  const { state, url } = await startKeys(t, first)
  const verifier = verifierFor(url, { cooldownMs: 0 })
  t.equal(await codeOf(verifier.verify(await sign(first))), 'verified')
  state.keys = [first.jwk, second.jwk]
  t.equal(await codeOf(verifier.verify(await sign(second))), 'verified')
  const patient = verifierFor(url)
  const before = state.requests
  const made = await makeKey('made-up')
  for (let index = 0; index < 20; index++)
    t.equal(await codeOf(patient.verify(await sign(made))), 'assertion-invalid')
  t.equal(state.requests - before, 1)
})

t.test('known keys stay while the gateway cannot be reached, and are read again once it can', async (t) => {
  const [first, second] = [await makeKey('k1'), await makeKey('k2')]
  const { state, url } = await startKeys(t, first)
  let ageMs = 0
  const verifier = verifierFor(url, {
    clock: () => Date.now() + ageMs,
    clockToleranceS: 3_600,
    cooldownMs: 0,
  })
  t.equal(await codeOf(verifier.verify(await sign(first))), 'verified')
  state.status = 500
  ageMs = 700_000
  t.equal(await codeOf(verifier.verify(await sign(first))), 'verified')
  await until('they were asked for', () => state.requests >= 2)
  t.equal(await codeOf(verifier.verify(await sign(second))), 'keys-unavailable', 'it may be a new key')
  state.status = 200
  state.keys = [second.jwk]
  ageMs = 1_400_000
  t.equal(await codeOf(verifier.verify(await sign(second))), 'verified')
  t.equal(await codeOf(verifier.verify(await sign(first))), 'assertion-invalid', 'a key that was retired')
})

t.test('without keys nothing is decided', async (t) => {
  const key = await makeKey('k1')
  const { state, url } = await startKeys(t, key)
  state.status = 500
  const error: { code?: unknown; statusCode?: unknown } = await verifierFor(url)
    .verify(await sign(key))
    .then(
      () => ({}),
      (reason) => reason,
    )
  t.match(error, { code: 'keys-unavailable', statusCode: 503 })
})

t.test(
  'options that would accept the assertions of others, or none, are refused, as unset variables would be',
  async (t) => {
    const right = { jwksUrl: 'https://gw/.well-known/jwks.json', issuer: 'https://gw', audience: 'orders' }
    // The cast stands for JavaScript, which knows no types.
    const feed = { url: 'https://gw/api/v1/revocations', headers: { SecretKey: 'gate_sk_x' } }
    for (const [name, message, values] of [
      ['issuer', 'issuer and audience must be set', [undefined, null, '']],
      ['audience', 'issuer and audience must be set', [undefined, null, '']],
      ['jwksUrl', /^jwksUrl must be a URL/, [undefined, null, '', 'localhost:8080/jwks']],
      ['algorithms', /^algorithms must be a list/, ['ES256', [], ['HS256'], null]],
      ['clockToleranceS', /^clockToleranceS must be/, ['5', -1, Number.NaN, Number.POSITIVE_INFINITY]],
      [
        'revocations',
        /^revocations\.url must be a URL/,
        [undefined, '/api/v1/revocations', 'gw:8080'].map((url) => ({ ...feed, url })),
      ],
      [
        'revocations',
        /^revocations\.headers must be an object/,
        [undefined, null, 'gate_sk_x'].map((headers) => ({ ...feed, headers })),
      ],
      [
        'revocations',
        /^revocations\.headers\.SecretKey is (?:undefined|empty): leave it out/,
        [undefined, '', '\n'].map((key) => ({ ...feed, headers: { SecretKey: key } })),
      ],
      [
        'revocations',
        /^revocations\.maxSilenceMs must be/,
        ['1000', 499].map((maxSilenceMs) => ({ ...feed, maxSilenceMs })),
      ],
    ] as const)
      for (const value of values)
        t.throws(() => createVerifier({ ...right, [name]: value } as VerifierOptions), {
          name: 'TypeError',
          message,
        })
    createVerifier(right).close()
  },
)
