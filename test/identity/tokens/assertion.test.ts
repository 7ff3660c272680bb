import t from 'tap'
import { createLru } from '#identity/cache/bounded-caches.ts'
import { type CachedAssertion, createAssertionIssuer } from '#identity/tokens/assertion.ts'
import { createKeyring } from '#identity/tokens/keyring.ts'
import { createBench, newSigningKey } from './forged-tokens.ts'

const subject = {
  accountId: 'acc_1',
  role: 'User',
  scheme: 'bearer' as const,
  sessionId: 'ses_1',
  scopes: [],
}
const issuer = 'https://api.example.com'
const startMs = 1_800_000_000_400

function partOf(token: string, index: 0 | 1) {
  return JSON.parse(Buffer.from(token.split('.')[index] ?? '', 'base64url').toString())
}

function create({ lifetimeMs = 60_000, entriesMax = 100, keys = [newSigningKey('a')] } = {}) {
  const keyring = createKeyring(keys[0]?.material.algorithm ?? 'ES256')
  if (keys.length > 0) keyring.replace(keys)
  const time = { nowMs: startMs }
  const cache = createLru<CachedAssertion>(entriesMax)
  const of = createAssertionIssuer({ keyring, cache, issuer, lifetimeMs, clock: () => time.nowMs })
  return { of, time, keyring }
}

t.test('an assertion names subject, audience, issuer and expiry', async (t) => {
  const { of } = create()
  const token = of(subject, 'orders')
  t.strictSame(partOf(token, 0), { alg: 'ES256', typ: 'gatehouse-assertion+jwt', kid: 'a' })
  const times = { iat: 1_800_000_000, exp: 1_800_000_061 }
  t.strictSame(partOf(token, 1), {
    iss: issuer,
    aud: 'orders',
    sub: 'acc_1',
    role: 'User',
    scheme: 'bearer',
    sid: 'ses_1',
    ...times,
  })
  const ofKey = of({ ...subject, scheme: 'secretKey', sessionId: undefined }, 'orders')
  const { sid } = partOf(ofKey, 1)
  t.equal(sid, undefined, 'a key has no session')
  const limited = partOf(of({ ...subject, scopes: ['orders:read', 'b'] }, 'orders'), 1)
  t.equal(limited.scope, 'orders:read b')
})

t.test('an assertion is reused while half of its lifetime is left', async (t) => {
  for (const lifetimeMs of [1_000, 60_000, 3_600_000]) {
    const { of, time } = create({ lifetimeMs })
    const first = of(subject, 'orders')
    time.nowMs = startMs + lifetimeMs / 2
    t.equal(of(subject, 'orders'), first)
    const { exp } = partOf(first, 1)
    t.ok(exp * 1_000 - time.nowMs >= lifetimeMs / 2, 'half of it is left')
    time.nowMs++
    t.not(of(subject, 'orders'), first)
  }
})

t.test('callers that differ in any claim get different assertions', async (t) => {
  const { of } = create()
  const all = [
    of(subject, 'orders'),
    of(subject, 'invoices'),
    of({ ...subject, accountId: 'acc_2' }, 'orders'),
    of({ ...subject, role: 'Admin' }, 'orders'),
    of({ ...subject, role: 'User ' }, 'orders'),
    of({ ...subject, sessionId: 'ses_2' }, 'orders'),
    of({ ...subject, scheme: 'secretKey', sessionId: undefined }, 'orders'),
    of({ ...subject, scopes: ['a'] }, 'orders'),
    of({ ...subject, scopes: ['a', 'b'] }, 'orders'),
    of({ ...subject, role: 'a User' }, 'orders'),
  ]
  t.equal(new Set(all).size, all.length)
  t.equal(of({ ...subject }, 'orders'), all[0], 'and who does not, the same')
})

t.test('a changed signing key replaces cached assertions at once', async (t) => {
  const { of, keyring } = create()
  t.equal(partOf(of(subject, 'orders'), 0).kid, 'a')
  keyring.replace([newSigningKey('b')])
  t.equal(partOf(of(subject, 'orders'), 0).kid, 'b')
  const replaced = newSigningKey('b')
  keyring.replace([replaced])
  const { publicKey } = replaced.material
  const [header, payload, signature = ''] = of(subject, 'orders').split('.')
  const { verify } = await import('node:crypto')
  const key = { key: publicKey, dsaEncoding: 'ieee-p1363' } as const
  const isSigned = verify(
    'sha256',
    Buffer.from(`${header}.${payload}`),
    key,
    Buffer.from(signature, 'base64url'),
  )
  t.equal(isSigned, true, 'by the key that has the ID now')
})

t.test('no assertion is made without a signing key', async (t) => {
  t.throws(() => create({ keys: [] }).of(subject, 'orders'), { code: 'store-unavailable' })
  const { of, keyring } = create()
  of(subject, 'orders')
  keyring.replace([])
  t.throws(() => of(subject, 'orders'), { code: 'store-unavailable' }, 'one that is kept is none either')
})

t.test('the assertion cache evicts the oldest callers', async (t) => {
  const { of } = create({ entriesMax: 2 })
  const [first, second] = [of(subject, 'a'), of(subject, 'b')]
  t.equal(of(subject, 'a'), first)
  of(subject, 'c')
  t.equal(of(subject, 'a'), first)
  t.not(of(subject, 'b'), second)
})

for (const algorithm of ['ES256', 'RS256', 'EdDSA'] as const) {
  t.test(`an assertion is not accepted as an access token: ${algorithm}`, async (t) => {
    const key = newSigningKey('a', algorithm)
    const { of } = create({ keys: [key] })
    const { verify } = createBench([key])
    t.equal(verify(of(subject, 'gatehouse')).kind, 'invalid')
  })
}
