import t from 'tap'
import type { Algorithm } from '#identity/tokens/key-material.ts'
import { createKeyring } from '#identity/tokens/keyring.ts'
import { currentSigner } from '#identity/tokens/signing-keys.ts'
import { newSigningKey } from './forged-tokens.ts'

const secretMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k', 'oth']

t.test('an unloaded keyring is undecided, a loaded empty one is not', async (t) => {
  const keyring = createKeyring('ES256')
  t.equal(keyring.isLoaded(), false)
  for (const ask of [() => keyring.signer(0), () => keyring.find('a'), () => keyring.jwks()]) {
    t.throws(ask, { code: 'store-unavailable' })
  }
  keyring.replace([])
  t.equal(keyring.isLoaded(), true)
  t.throws(() => keyring.signer(0), { code: 'store-unavailable' })
  t.equal(keyring.find('a'), undefined)
  t.strictSame(keyring.jwks(), { keys: [] })
})

t.test("a keyring's keys are replaced as a whole", async (t) => {
  const [old, next] = [newSigningKey('old'), newSigningKey('next')]
  const keyring = createKeyring('ES256')
  keyring.replace([old])
  t.equal(keyring.find('old'), old)
  keyring.replace([next])
  t.equal(keyring.find('old'), undefined)
  t.equal(keyring.find('next'), next)
  t.equal(keyring.signer(0), next)
  for (const kid of ['', '__proto__', 'constructor', 'NEXT']) t.equal(keyring.find(kid), undefined)
})

t.test('the JWKS has the public keys of all, and no part of a secret', async (t) => {
  const keyring = createKeyring('ES256')
  const algorithms: readonly Algorithm[] = ['ES256', 'RS256', 'EdDSA', 'HS256']
  const keys = algorithms.map((algorithm) => newSigningKey(`key-${algorithm}`, algorithm))
  keyring.replace(keys)
  const { keys: published } = keyring.jwks()
  t.match(published, [
    { kid: 'key-ES256', alg: 'ES256', use: 'sig', kty: 'EC', crv: 'P-256', x: String, y: String },
    { kid: 'key-RS256', alg: 'RS256', use: 'sig', kty: 'RSA', n: String, e: 'AQAB' },
    { kid: 'key-EdDSA', alg: 'EdDSA', use: 'sig', kty: 'OKP', crv: 'Ed25519', x: String },
  ])
  t.equal(published.length, 3, 'a secret of HS256 is not published')
  for (const jwk of published) {
    t.strictSame(
      Object.keys(jwk).filter((member) => secretMembers.includes(member)),
      [],
    )
  }
  const text = JSON.stringify(published)
  for (const { material } of keys) {
    const { d, k } = material.privateKey?.export({ format: 'jwk' }) ?? {}
    for (const secret of [d, k]) if (typeof secret === 'string') t.notOk(text.includes(secret))
  }
})

t.test('the newest key that is already active signs', async (t) => {
  const now = 1_000
  const at = (kid: string, signsFrom: number, algorithm: Algorithm = 'ES256', createdAt = 0) => ({
    kid,
    signsFrom,
    algorithm,
    createdAt,
  })
  const never = Number.POSITIVE_INFINITY
  const cases: readonly [string, readonly ReturnType<typeof at>[], string | undefined][] = [
    ['none of none', [], undefined],
    ['the only one', [at('a', 0)], 'a'],
    ['the newest', [at('b', 900), at('a', 100)], 'b'],
    ['at its very moment', [at('a', 100), at('b', now)], 'b'],
    ['the newest, not the last to begin', [at('b', 100, 'ES256', 2), at('a', 900, 'ES256', 1)], 'b'],
    ['not one that is announced', [at('b', now + 1), at('a', 100)], 'a'],
    ['the next to come, where none has come', [at('b', now + 9), at('a', now + 5)], 'a'],
    ['none of another algorithm', [at('b', 900, 'RS256'), at('a', 100)], 'a'],
    ['none where all are of another', [at('b', 900, 'RS256')], undefined],
    ['none that only verifies', [at('b', never), at('a', 100)], 'a'],
    ['none where all only verify', [at('b', never)], undefined],
  ]
  for (const [name, keys, kid] of cases) t.equal(currentSigner(keys, 'ES256', now)?.kid, kid, name)
})

t.test('an announced key signs from its time on, without a restart', async (t) => {
  const keyring = createKeyring('ES256')
  keyring.replace([newSigningKey('next', 'ES256', { signsFrom: 1_000 }), newSigningKey('old')])
  t.equal(keyring.signer(999).kid, 'old')
  t.equal(keyring.signer(1_000).kid, 'next')
  t.ok(keyring.find('old'), 'and tokens of the old one stay valid')
})

t.test('an unknown key may be new, a retired one is not', (t) => {
  const keyring = createKeyring('ES256')
  t.throws(() => keyring.mayBeNew('a'), { code: 'store-unavailable' })
  const [a, b] = [newSigningKey('a'), newSigningKey('b')]
  keyring.replace([a, b])
  t.strictSame(['a', 'b', 'c'].map(keyring.mayBeNew), [false, false, true])
  keyring.replace([b])
  t.strictSame(['a', 'b', 'c'].map(keyring.mayBeNew), [false, false, true])
  keyring.replace([])
  keyring.replace([a])
  t.strictSame(['a', 'b', 'c'].map(keyring.mayBeNew), [false, false, true])
  t.equal(keyring.find('a'), a, 'one that was brought back is a key again')
  t.end()
})

t.test('with keys from the config an unknown key is not new', (t) => {
  const keyring = createKeyring('ES256', 'config')
  keyring.replace([newSigningKey('a')])
  t.strictSame(['a', 'b'].map(keyring.mayBeNew), [false, false])
  t.end()
})
