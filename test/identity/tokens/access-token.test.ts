import { createHmac, randomUUID, verify as verifySignature } from 'node:crypto'
import t from 'tap'
import { createVerifiedTokens } from '#identity/cache/bounded-caches.ts'
import { accessTokenClaimsBytes, roleEpochIn } from '#identity/tokens/access-token-claims.ts'
import type { Algorithm } from '#identity/tokens/key-material.ts'
import type { SigningKey } from '#identity/tokens/signing-keys.ts'
import {
  audience,
  createBench,
  decodePart,
  forge,
  issuer,
  lifetimeS,
  newSigningKey,
  rightClaims,
  rightHeader,
  startS,
  subject,
} from './forged-tokens.ts'

const algorithms: readonly Algorithm[] = ['ES256', 'RS256', 'EdDSA', 'HS256']

/** Whether a signature is right, as any other verifier would find out. */
function isSigned(token: string, { material: { algorithm, publicKey } }: SigningKey): boolean {
  const [header, payload, signature = ''] = token.split('.')
  const signed = Buffer.from(`${header}.${payload}`)
  const bytes = Buffer.from(signature, 'base64url')
  if (algorithm === 'HS256') return createHmac('sha256', publicKey).update(signed).digest().equals(bytes)
  const digest = algorithm === 'EdDSA' ? null : 'sha256'
  return verifySignature(digest, signed, { key: publicKey, dsaEncoding: 'ieee-p1363' }, bytes)
}

for (const algorithm of algorithms) {
  const key = newSigningKey(`key-${algorithm}`, algorithm)

  t.test(`a token of ${algorithm} has exactly the claims of the contract`, async (t) => {
    const { issue } = createBench([key])
    const token = issue(subject)
    t.strictSame(decodePart(token, 0), { alg: algorithm, typ: 'at+jwt', kid: key.kid })
    const { jti, ...claims } = decodePart(token, 1)
    t.strictSame(claims, {
      iss: issuer,
      aud: audience,
      sub: 'an-account',
      sid: 'a-session',
      role: 'User',
      iat: startS,
      exp: startS + lifetimeS,
    })
    t.match(jti, /^[0-9a-f-]{36}$/)
    t.equal(token.split('.').length, 3)
    t.ok(isSigned(token, key))
  })

  t.test(`a token of ${algorithm} is valid, whichever library signed it with the key`, async (t) => {
    const { issue, verify } = createBench([key])
    const expected = {
      kind: 'valid',
      claims: {
        ...subject,
        scopes: [],
        confirmation: undefined,
        issuedAt: startS * 1_000,
        validFrom: startS * 1_000 - 5_000,
        validUntil: (startS + lifetimeS) * 1_000 + 5_000,
      },
    }
    t.strictSame(verify(issue(subject)), expected)
    t.strictSame(verify(forge(rightHeader(key), rightClaims, key.material)), expected)
  })

  t.test(`a token of ${algorithm} with any part changed is refused`, async (t) => {
    const { issue, verify } = createBench([key])
    const token = issue(subject)
    const other = newSigningKey(key.kid, algorithm)
    t.equal(verify(forge(rightHeader(key), rightClaims, other.material)).kind, 'invalid', 'another key')
    const [header = '', payload = '', signature = ''] = token.split('.')
    const accepted = [header, payload, signature].flatMap((part, index) =>
      [...part.slice(0, -1)].flatMap((letter, at) => {
        const parts = [header, payload, signature]
        parts[index] = part.slice(0, at) + (letter === 'A' ? 'B' : 'A') + part.slice(at + 1)
        return verify(parts.join('.')).kind === 'valid' ? [`${index}:${at}`] : []
      }),
    )
    t.strictSame(accepted, [])
    t.equal(verify(`${header}.${payload}.`).kind, 'invalid')
    t.equal(verify(`${header}.${payload}`).kind, 'invalid')
  })
}

t.test('every access token has a unique ID', async (t) => {
  const { issue } = createBench([newSigningKey('key')])
  t.equal(new Set(Array.from({ length: 500 }, () => decodePart(issue(subject), 1).jti)).size, 500)
})

t.test('a token ID is a UUID for every role epoch (RFC 9562 5.8)', async (t) => {
  const { issue, verify } = createBench([newSigningKey('key')])
  for (const roleEpoch of [1, 2, 15, 16, 65_536, 2 ** 32, 2 ** 48 - 1]) {
    const token = issue({ ...subject, roleEpoch })
    t.match(decodePart(token, 1).jti, /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    t.match(verify(token), { kind: 'valid', claims: { roleEpoch } })
    t.equal(roleEpochIn(token), roleEpoch)
  }
})

t.test('a token ID of another form means the first role epoch', async (t) => {
  const key = newSigningKey('key')
  const { verify } = createBench([key])
  for (const jti of ['one', '', randomUUID(), ' 00000000-0002-8000-8000-000000000000']) {
    const token = forge(rightHeader(key), { ...rightClaims, jti }, key.material)
    t.match(verify(token), { kind: 'valid', claims: { roleEpoch: 1 } })
    t.equal(roleEpochIn(token), 1)
  }
})

t.test('claim values are kept unchanged, whatever characters they hold', async (t) => {
  const { issue, verify } = createBench([newSigningKey('key')])
  for (const text of ['', '"', '\\', 'ключ 🔑', '__proto__', '{"role":"Admin"}']) {
    const given = { accountId: text, sessionId: text, role: text, roleEpoch: 1 }
    t.match(verify(issue(given)), { kind: 'valid', claims: given })
  }
})

t.test('a token of a removed key is refused, even if cached', async (t) => {
  const [old, next] = [newSigningKey('old'), newSigningKey('next')]
  const { keyring, issue, verify } = createBench([old], {
    verified: { ...createVerifiedTokens(1, accessTokenClaimsBytes), get: () => undefined },
  })
  const token = issue(subject)
  keyring.replace([old, next])
  t.equal(verify(token).kind, 'valid')
  keyring.replace([next])
  t.equal(verify(token).kind, 'invalid')
  keyring.replace([newSigningKey('old')])
  t.equal(verify(token).kind, 'invalid', 'another key of its ID is another key')
})

t.test('without keys tokens are neither issued nor refused, but undecided', async (t) => {
  const key = newSigningKey('key')
  const token = createBench([key]).issue(subject)
  const { keyring, accessTokens } = createBench([])
  for (const keys of [undefined, []]) {
    if (keys) keyring.replace(keys)
    t.throws(() => accessTokens.issue(subject), { code: 'store-unavailable' })
    t.throws(() => accessTokens.assertCanIssue(), { code: 'store-unavailable' })
  }
  keyring.replace([key])
  t.doesNotThrow(() => accessTokens.assertCanIssue())
  t.equal(accessTokens.verify(token).kind, 'valid')
})
