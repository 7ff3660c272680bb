import { createHash, randomBytes } from 'node:crypto'
import t, { type Test } from 'tap'
import { type Algorithm, keyText } from '#identity/tokens/key-material.ts'
import { announcedMs, createSigningKeys, currentSigner, jwksMaxAgeS } from '#identity/tokens/signing-keys.ts'
import { OperatorError } from '#platform/errors/operator-error.ts'
import { createSealer } from '#platform/secrets/sealing.ts'
import { emptiedPlaces } from '../../store/redis/place.ts'
import { newSqlitePlace } from '../../store/sqlite/place.ts'

const algorithms: readonly Algorithm[] = ['ES256', 'RS256', 'EdDSA', 'HS256']
const startMs = 1_700_000_000_000

async function openSigningKeys(t: Test, algorithm: Algorithm = 'ES256') {
  const place = await newSqlitePlace(t)
  const sealer = createSealer(randomBytes(32))
  const time = { now: startMs }
  const open = async (changes: { algorithm?: Algorithm; sealer?: typeof sealer } = {}) =>
    createSigningKeys({ store: await place.open(), sealer, algorithm, clock: () => time.now, ...changes })
  return { store: await place.open(), open, time, signingKeys: await open() }
}

for (const algorithm of algorithms) {
  t.test(`the first load creates a key of ${algorithm}, later ones find it`, async (t) => {
    const { open, signingKeys, time } = await openSigningKeys(t, algorithm)
    const [key, ...others] = await signingKeys.load()
    t.strictSame(others, [])
    t.match(key, { algorithm, createdAt: startMs, signsFrom: startMs, material: { algorithm } })
    time.now += 1_000
    const again = await (await open()).load()
    t.equal(again.length, 1)
    t.equal(again[0]?.kid, key?.kid)
    const texts = [key, again[0]].map(
      (each) => each?.material.privateKey && keyText(each.material.privateKey, 'pkcs8'),
    )
    t.equal(texts[0], texts[1])
  })
}

t.test('instances starting simultaneously create one signing key', async (t) => {
  const place = await (await emptiedPlaces(t))(t)
  const stores = await Promise.all(Array.from({ length: 8 }, () => place.open()))
  const sealer = createSealer(randomBytes(32))
  const loads = stores.map((store) =>
    createSigningKeys({ store, sealer, algorithm: 'ES256', clock: () => startMs }).load(),
  )
  const kids = (await Promise.all(loads)).map((keys) => keys.map(({ kid }) => kid).join())
  t.equal(new Set(kids).size, 1)
  t.match(kids[0], /^[0-9A-Za-z_-]{43}$/, 'and each has just this one')
})

t.test('the ID of a key is its thumbprint (RFC 7638)', async (t) => {
  for (const [algorithm, members] of [
    ['ES256', ['crv', 'kty', 'x', 'y']],
    ['RS256', ['e', 'kty', 'n']],
    ['EdDSA', ['crv', 'kty', 'x']],
  ] as const) {
    const { signingKeys } = await openSigningKeys(t, algorithm)
    const [key] = await signingKeys.load()
    const jwk: Record<string, unknown> = { ...key?.material.publicKey.export({ format: 'jwk' }) }
    const canonical = `{${members.map((name) => `"${name}":${JSON.stringify(jwk[name])}`).join(',')}}`
    t.equal(key?.kid, createHash('sha256').update(canonical).digest('base64url'))
  }
})

t.test('the store never holds a private key in the clear', async (t) => {
  for (const algorithm of algorithms) {
    const { store, signingKeys } = await openSigningKeys(t, algorithm)
    const [key] = await signingKeys.load()
    const [stored] = await store.listSigningKeys()
    const { d, k } = key?.material.privateKey?.export({ format: 'jwk' }) ?? {}
    const written = `${Buffer.from(stored?.sealed ?? []).toString('latin1')}${stored?.publicKey}${stored?.kid}`
    t.notOk(written.includes('PRIVATE'))
    for (const secret of [d, k]) {
      if (typeof secret !== 'string') continue
      t.notOk(written.includes(secret))
      t.notOk(written.includes(Buffer.from(secret, 'base64url').toString('latin1')))
    }
    t.equal(stored?.publicKey === undefined, algorithm === 'HS256')
  }
})

t.test('a rotated key is announced for twice the cache time of the JWKS', async (t) => {
  const { signingKeys, time } = await openSigningKeys(t)
  const [first] = await signingKeys.load()
  time.now += 1_000
  const next = await signingKeys.rotate('announced')
  t.equal(announcedMs, 2 * jwksMaxAgeS * 1_000)
  t.equal(next.signsFrom, time.now + announcedMs)
  const keys = await signingKeys.load()
  t.equal(keys.length, 2, 'it is there to be published')
  t.equal(currentSigner(keys, 'ES256', next.signsFrom - 1)?.kid, first?.kid)
  t.equal(currentSigner(keys, 'ES256', next.signsFrom)?.kid, next.kid)
})

t.test('a key rotated with --now signs at once', async (t) => {
  const { signingKeys, time } = await openSigningKeys(t)
  await signingKeys.load()
  time.now += 1
  const next = await signingKeys.rotate('now')
  t.equal(currentSigner(await signingKeys.load(), 'ES256', time.now)?.kid, next.kid)
})

t.test('a key rotated with --now signs until a later rotation, whatever was announced before', async (t) => {
  const { signingKeys, time } = await openSigningKeys(t)
  await signingKeys.load()
  time.now += 1_000
  const announced = await signingKeys.rotate('announced')
  time.now += 1_000
  const now = await signingKeys.rotate('now')
  const signerAt = async (at: number) => currentSigner(await signingKeys.load(), 'ES256', at)?.kid
  for (const at of [time.now, announced.signsFrom - 1, announced.signsFrom, announced.signsFrom + 86_400_000])
    t.equal(await signerAt(at), now.kid)
  time.now = announced.signsFrom + 1_000
  const later = await signingKeys.rotate('announced')
  t.equal(await signerAt(later.signsFrom - 1), now.kid)
  t.equal(await signerAt(later.signsFrom), later.kid)
})

t.test(
  'a key rotated with --now signs also where a key was announced by a clock that was ahead',
  async (t) => {
    const { signingKeys, time } = await openSigningKeys(t)
    await signingKeys.load()
    time.now += 3_600_000
    const ahead = await signingKeys.rotate('announced')
    time.now -= 3_600_000
    const now = await signingKeys.rotate('now')
    const keys = await signingKeys.load()
    for (const at of [time.now, ahead.signsFrom, ahead.signsFrom + 86_400_000])
      t.equal(currentSigner(keys, 'ES256', at)?.kid, now.kid)
  },
)

t.test('a retired key is removed, the last that can sign is kept', async (t) => {
  const { open, signingKeys } = await openSigningKeys(t)
  const [first] = await signingKeys.load()
  const only = first?.kid ?? ''
  await t.rejects(signingKeys.retire(only), { name: 'OperatorError', message: /only key that can sign/ })
  await t.rejects(signingKeys.retire('unknown'), { name: 'OperatorError', message: /no signing key unknown/ })
  await (await open({ algorithm: 'EdDSA' })).load()
  await t.rejects(signingKeys.retire(only), OperatorError, 'one of another algorithm does not sign instead')
  const next = await signingKeys.rotate('announced')
  await signingKeys.retire(only)
  const keys = await signingKeys.load()
  t.strictSame(keys.map(({ algorithm }) => algorithm).toSorted(), ['ES256', 'EdDSA'])
  t.equal(currentSigner(keys, 'ES256', startMs)?.kid, next.kid, 'the next signs at once, not once announced')
})

t.test('a changed algorithm creates a key of its own and keeps the old ones', async (t) => {
  const { open, signingKeys } = await openSigningKeys(t)
  await signingKeys.load()
  const keys = await (await open({ algorithm: 'RS256' })).load()
  t.strictSame(keys.map(({ material }) => material.algorithm).toSorted(), ['ES256', 'RS256'])
})

t.test('keys sealed with another sealing key are refused, not replaced', async (t) => {
  const { store, open, signingKeys } = await openSigningKeys(t)
  const [key] = await signingKeys.load()
  const stranger = await open({ sealer: createSealer(randomBytes(32)) })
  await t.rejects(stranger.load(), { name: 'OperatorError', message: key?.kid, hint: /sealing key/ })
  t.equal((await store.listSigningKeys()).length, 1)
  t.equal((await stranger.list()).length, 1, 'they can be listed, and retired')
})

t.test('a wrong sealing key adds no signing key beside existing ones', async (t) => {
  const { store, open, signingKeys } = await openSigningKeys(t)
  const [key] = await signingKeys.load()
  const stranger = await open({ sealer: createSealer(randomBytes(32)), algorithm: 'RS256' })
  await t.rejects(stranger.load(), { name: 'OperatorError', message: key?.kid, hint: /sealing key/ })
  t.strictSame(
    (await store.listSigningKeys()).map(({ kid }) => kid),
    [key?.kid],
  )
})

t.test('an instance losing the race for the first key to another sealing key leaves no key', async (t) => {
  const { store, open } = await openSigningKeys(t)
  const sealer = createSealer(randomBytes(32))
  const stranger = await open({ sealer, algorithm: 'RS256' })
  const late: typeof store = {
    ...store,
    addSigningKey: async (...key) => {
      await stranger.load()
      return store.addSigningKey(...key)
    },
  }
  const loading = createSigningKeys({
    store: late,
    sealer: createSealer(randomBytes(32)),
    algorithm: 'ES256',
    clock: () => startMs,
  }).load()
  await t.rejects(loading, { name: 'OperatorError', message: /cannot be unsealed/ })
  t.match(await store.listSigningKeys(), [{ algorithm: 'RS256' }])
})

t.test('a signing key that cannot be unsealed hides no other, and cannot sign', async (t) => {
  const { open, signingKeys } = await openSigningKeys(t)
  const [key] = await signingKeys.load()
  const kid = key?.kid ?? ''
  const strange = await (await open({ sealer: createSealer(randomBytes(32)) })).rotate('now')
  t.strictSame(
    (await signingKeys.load()).map((each) => each.kid),
    [kid],
  )
  t.match(await signingKeys.read(), { unreadable: [strange.kid] })
  await t.rejects(signingKeys.assertReadable(), { name: 'OperatorError', message: strange.kid })
  await t.rejects(signingKeys.retire(kid), { name: 'OperatorError', message: /only key that can sign/ })
  await signingKeys.retire(strange.kid)
  t.strictSame((await signingKeys.read()).unreadable, [])
})
