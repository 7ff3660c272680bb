import t from 'tap'
import { createVerifiedTokens, tokenDigest } from '#identity/cache/bounded-caches.ts'
import { accessTokenClaimsBytes } from '#identity/tokens/access-token-claims.ts'
import {
  createBench,
  forge,
  newSigningKey,
  rightClaims,
  rightHeader,
  startS,
  subject,
} from '../tokens/forged-tokens.ts'

t.test('a verified token is cached until evicted or cleared', async (t) => {
  const verified = createVerifiedTokens(2, accessTokenClaimsBytes)
  const { issue, verify } = createBench([newSigningKey('key')], { verified })
  const tokens = [issue(subject), issue(subject), issue(subject)] as const
  for (const token of tokens) t.equal(verify(token).kind, 'valid')
  t.equal(verified.get(tokenDigest(tokens[0])), undefined)
  t.match(verified.get(tokenDigest(tokens[1])), subject)
  t.match(verified.get(tokenDigest(tokens[2])), subject)
  verified.clear()
  t.equal(verified.get(tokenDigest(tokens[2])), undefined)
  t.equal(verify(tokens[0]).kind, 'valid', 'and is verified again')
})

t.test('a refused token is never cached as valid', async (t) => {
  const verified = createVerifiedTokens(10, accessTokenClaimsBytes)
  const key = newSigningKey('key')
  const { verify } = createBench([key], { verified })
  const refused = [
    'x.y.z',
    forge(rightHeader(key), rightClaims, newSigningKey('key').material),
    forge(rightHeader(key), { ...rightClaims, iss: 'other' }, key.material),
    forge(rightHeader(key), { ...rightClaims, jti: undefined }, key.material),
    forge({ ...rightHeader(key), typ: 'JWT' }, rightClaims, key.material),
  ]
  for (const token of refused) {
    t.equal(verify(token).kind, 'invalid')
    t.equal(verified.get(tokenDigest(token)), undefined)
    t.equal(verify(token).kind, 'invalid')
  }
})

t.test('the signature of a cached token is not verified again', async (t) => {
  const verified = createVerifiedTokens(10, accessTokenClaimsBytes)
  const { issue, verify, keyring } = createBench([newSigningKey('key')], { verified })
  const token = issue(subject)
  verify(token)
  keyring.replace([newSigningKey('other')])
  t.equal(verify(token).kind, 'valid')
  // That is why the code that replaces the keys clears it.
  verified.clear()
  t.equal(verify(token).kind, 'invalid')
})

t.test('a permanently refused token is not parsed again until the keys change', async (t) => {
  const verified = createVerifiedTokens(10, accessTokenClaimsBytes)
  const [key, other] = [newSigningKey('key'), newSigningKey('key')]
  const { verify, keyring } = createBench([key], { verified })
  const token = forge(rightHeader(other), rightClaims, other.material)
  t.equal(verify(token).kind, 'invalid')
  // Read again, it would be right now.
  keyring.replace([other])
  t.equal(verify(token).kind, 'invalid')
  verified.clear()
  t.equal(verify(token).kind, 'valid')
})

t.test('every refusal that only new keys could change is cached', async (t) => {
  const verified = createVerifiedTokens(10, accessTokenClaimsBytes)
  const key = newSigningKey('key')
  const { verify, accessTokens } = createBench([key], { verified })
  const right = forge(rightHeader(key), rightClaims, key.material)
  const refused = {
    'no token': 'x.y.z',
    'an empty one': '',
    'another signature': forge(rightHeader(key), rightClaims, newSigningKey('key').material),
    'a signature spelled otherwise': `${right}=`,
    'another type': forge({ ...rightHeader(key), typ: 'JWT' }, rightClaims, key.material),
    'another algorithm': forge({ ...rightHeader(key), alg: 'none' }, rightClaims, key.material),
    'another issuer': forge(rightHeader(key), { ...rightClaims, iss: 'other' }, key.material),
    'another audience': forge(rightHeader(key), { ...rightClaims, aud: 'other' }, key.material),
    'a claim left out': forge(rightHeader(key), { ...rightClaims, jti: undefined }, key.material),
  }
  for (const [name, token] of Object.entries(refused)) {
    t.equal(verified.refusalReason(tokenDigest(token)), undefined, name)
    t.equal(verify(token).kind, 'invalid', name)
    t.ok(verified.refusalReason(tokenDigest(token)), name)
    t.equal(accessTokens.mayHaveNewKey(token), false, name)
  }
})

t.test('a token that may become valid is not cached as refused', async (t) => {
  const verified = createVerifiedTokens(10, accessTokenClaimsBytes)
  const [key, coming] = [newSigningKey('key'), newSigningKey('coming')]
  const { verify, keyring, time } = createBench([key], { verified })
  const early = { ...rightClaims, nbf: startS + 60 }
  const tokens = {
    'of a key to come': forge(rightHeader(coming), rightClaims, coming.material),
    'not yet valid': forge(rightHeader(key), early, key.material),
    expired: forge(rightHeader(key), { ...rightClaims, iat: 0, exp: startS - 60 }, key.material),
  }
  for (const [name, token] of Object.entries(tokens)) {
    t.not(verify(token).kind, 'valid', name)
    t.equal(verified.refusalReason(tokenDigest(token)), undefined, name)
  }
  keyring.replace([key, coming])
  t.equal(verify(tokens['of a key to come']).kind, 'valid')
  time.nowMs += 60_000
  t.equal(verify(tokens['not yet valid']).kind, 'valid')
  time.nowMs -= 180_000
  t.equal(verify(tokens.expired).kind, 'valid', 'by a clock that went back')
})

t.test('a flood of forged tokens stays in its bound, and evicts no valid ones', async (t) => {
  const verified = createVerifiedTokens(2, accessTokenClaimsBytes)
  const { issue, verify } = createBench([newSigningKey('key')], { verified })
  const right = [issue(subject), issue(subject)] as const
  for (const token of right) t.equal(verify(token).kind, 'valid')
  for (let count = 0; count < 4_096; count++) verify(`made.up.${count}`)
  t.ok(verified.refusalReason(tokenDigest('made.up.0')))
  verify('made.up.4096')
  t.equal(
    verified.refusalReason(tokenDigest('made.up.1')),
    undefined,
    'the one used longest ago is forgotten',
  )
  for (let count = 5_000; count < 20_000; count++) verify(`made.up.${count}`)
  t.equal(verified.refusalReason(tokenDigest('made.up.4096')), undefined)
  for (const token of right) t.ok(verified.get(tokenDigest(token)))
})

const claims = { ...subject, scopes: [], confirmation: undefined, issuedAt: 0, validFrom: 0, validUntil: 1 }

t.test('the cache of valid tokens is bounded in bytes', async (t) => {
  // Beside the texts of its claims a token takes 384 bytes of the 512 of its place.
  const places = 20_000
  const textLength = claims.accountId.length + claims.role.length
  for (const [what, length, known] of [
    ['at the limit', 128, places],
    ['one over', 129, Math.floor((places * 512) / 513)],
    ['far over', 896, 8_000],
  ] as const) {
    const verified = createVerifiedTokens(places, accessTokenClaimsBytes)
    const tokens = Array.from({ length: places }, (_, index) => `${index}`.padStart(12, 'x'))
    for (const token of tokens) {
      verified.set(token, { ...claims, sessionId: 's'.repeat(length - textLength) })
    }
    const found = tokens.filter((token) => verified.get(token) !== undefined)
    t.same(found, tokens.slice(-known), what)
  }
})
