import t from 'tap'
import { authenticate } from '#identity/authenticate.ts'
import { createVerifiedTokens } from '#identity/cache/bounded-caches.ts'
import { cookieCredential, withAuthorization } from '#identity/credentials.ts'
import { createForeignScheme } from '#identity/issuers/foreign.ts'
import { foreignClaimsBytes } from '#identity/issuers/foreign-claims.ts'
import { createForeignTokens } from '#identity/issuers/foreign-tokens.ts'
import { principalId } from '#identity/issuers/subjects.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { usualCarriers } from '../../setup/carriers.ts'
import { accessOf, openBench, wordOf } from '../auth-harness.ts'
import { issuer as ownIssuer, startS } from '../tokens/forged-tokens.ts'
import { fileIssuer, openFileIssuers } from './file-issuers.ts'
import { newIssuerKey, rightClaims, signToken } from './issuer-server.ts'

const bench = await openBench(t)
const { store, directory, schemes: own, time, contact } = bench
const clock = () => time.nowMs
const names = ['corp', 'partner']
const keys = await Promise.all(names.map((name) => newIssuerKey(name)))
const verified = createVerifiedTokens(1_000, foreignClaimsBytes)
const issuers = await openFileIssuers(
  keys.map(({ kid, jwk }) => fileIssuer(`https://${kid}.example`, [jwk], { name: kid })),
  verified,
)
const tokens = createForeignTokens({ issuers, ownIssuer, verified, clockToleranceMs: 0, clock })
const foreign = createForeignScheme({ tokens, directory, isOwn: () => false })

/** A token of an issuer, for five minutes from now. */
function tokenOf(name: 'corp' | 'partner', sub = 'ada'): Promise<string> {
  const key = keys[names.indexOf(name)]
  if (!key) throw new Error(`no issuer ${name}`)
  const iat = Math.floor(time.nowMs / 1_000)
  return signToken(key, rightClaims(`https://${name}.example`, { sub, iat, exp: iat + 300 }))
}

/** What a route that takes tokens of these issuers makes of a token. */
async function decide(token: string, accepted: readonly string[], from: 'field' | 'cookie' = 'field') {
  const credentials =
    from === 'cookie'
      ? cookieCredential(token)
      : withAuthorization({ kind: 'none' }, `Bearer ${token}`, usualCarriers)
  return authenticate(accessOf('any', { issuers: accepted }), credentials, { ...own, foreign })
}
const wordFor = async (...asked: Parameters<typeof decide>) => wordOf(await decide(...asked))

t.test('a token is accepted by routes of its issuer alone, also right after such a route', async (t) => {
  const token = await tokenOf('partner')
  t.equal(await wordFor(token, ['corp']), 'token-invalid')
  t.equal(await wordFor(token, ['corp', 'partner']), 'bearer')
  t.equal(await wordFor(token, ['partner']), 'bearer')
  t.equal(await wordFor(token, ['corp']), 'token-invalid')
  t.equal(await wordFor(token, []), 'token-invalid')
})

t.test('the access cookie holds tokens of the gateway alone', async (t) => {
  const token = await tokenOf('corp')
  t.equal(await wordFor(token, ['corp'], 'cookie'), 'token-invalid')
  t.equal(await wordFor(token, ['corp']), 'bearer')
  t.equal(
    await wordFor(token, ['corp'], 'cookie'),
    'token-invalid',
    'also where it was accepted a moment ago',
  )
  const { accessToken } = await bench.newCaller()
  t.equal(await wordFor(accessToken, ['corp'], 'cookie'), 'bearer')
})

t.test('a blocked subject is refused at once, and stays refused while the store is down', async (t) => {
  const token = await tokenOf('corp', 'eve')
  const blocked = { principalId: principalId('corp', 'eve'), blockedAt: time.nowMs }
  t.equal(await wordFor(token, ['corp']), 'bearer')
  await store.blockSubject(blocked)
  await directory.confirm()
  t.equal(await wordFor(token, ['corp']), 'subject-blocked')
  contact.isUp = false
  t.equal(await wordFor(token, ['corp']), 'subject-blocked')
  contact.isUp = true
  await store.unblockSubject(blocked.principalId)
  t.equal(await wordFor(token, ['corp']), 'bearer', 'the refusal is confirmed first')
})

t.test('a decision holds until the token expires, and no longer', async (t) => {
  const token = await tokenOf('corp', 'bob')
  t.match(await decide(token, ['corp']), { holdsUntil: time.nowMs + 300_000 })
  time.nowMs += 299_999
  t.equal(await wordFor(token, ['corp']), 'bearer')
  time.nowMs += 1
  t.equal(await wordFor(token, ['corp']), 'token-expired')
  t.equal(time.nowMs, startS * 1_000 + 300_000)
})

t.test('an e-mail that the issuer does not say is verified is not', async (t) => {
  const decision = await decide(await tokenOf('corp', 'kim'), ['corp'])
  t.match(decision, { principal: { issuer: 'corp', role: 'User', profile: { isVerified: false } } })
})

t.test('an error of ours does not count as an outage in which a blocked subject stays refused', async (t) => {
  const token = await tokenOf('corp', 'mallory')
  const decideAfter = async (error: Error) => {
    const blocking = { subject: () => ({ isBlocked: true }), confirm: () => Promise.reject(error) }
    const scheme = createForeignScheme({ tokens, directory: blocking, isOwn: () => false })
    return scheme.authenticate(token, new Set(['corp']))
  }
  t.match(await decideAfter(new GatehouseError('store-unavailable')), { code: 'subject-blocked' })
  await t.rejects(decideAfter(new TypeError('a fault')), { message: 'a fault' })
})
