import t from 'tap'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { openBench } from './auth-harness.ts'

t.test('a principal holds the current account and the scheme used', async (t) => {
  const { newCaller, decide, accounts, time } = await openBench(t)
  const { id, secretKey, accessToken, refreshToken } = await newCaller({
    email: 'Ada@Example.com',
    lastName: 'Lovelace',
  })
  const principal = {
    accountId: id,
    role: 'User',
    key: 'default',
    scopes: [],
    addresses: [],
    quota: undefined,
    plan: undefined,
    issuer: undefined,
    profile: { email: 'Ada@Example.com', firstName: 'Ada', lastName: 'Lovelace', isVerified: true },
  }
  const unused = { confirmation: undefined, kept: undefined }
  t.strictSame(await decide('any', { secretKey }), {
    kind: 'allowed',
    scheme: 'secretKey',
    principal: { ...principal, scheme: 'secretKey', sessionId: undefined },
    holdsUntil: Number.POSITIVE_INFINITY,
    ...unused,
  })
  const sessionId = refreshToken.split('_')[1]
  t.strictSame(await decide('any', { authorization: `Bearer ${accessToken}` }), {
    kind: 'allowed',
    scheme: 'bearer',
    principal: { ...principal, scheme: 'bearer', sessionId },
    holdsUntil: time.nowMs + 600_000,
    ...unused,
  })
  // A token says the role of its time only; the rest is that of now.
  await accounts.update(id, { email: 'new@example.com', isVerified: false })
  t.match(await decide('any', { authorization: `Bearer ${accessToken}` }), {
    principal: { profile: { email: 'new@example.com', isVerified: false } },
  })
})

t.test('a cached caller is decided synchronously', async (t) => {
  const { newCaller, schemes } = await openBench(t)
  const { secretKey, accessToken } = await newCaller()
  t.ok(schemes.secretKey.authenticate(secretKey) instanceof Promise)
  await schemes.secretKey.authenticate(secretKey)
  await schemes.bearer.authenticate(accessToken)
  t.match(schemes.secretKey.authenticate(secretKey), { kind: 'authenticated' })
  t.match(schemes.bearer.authenticate(accessToken), { kind: 'authenticated' })
})

t.test('a malformed key or token costs no look-up', async (t) => {
  const { store, schemes } = await openBench(t)
  await store.close()
  t.match(schemes.secretKey.authenticate('gsk_x'), { kind: 'refused', code: 'secret-key-invalid' })
  t.match(schemes.bearer.authenticate('a.b.c'), { kind: 'refused', code: 'token-invalid' })
})

t.test('with the store down an unknown caller is undecided, not refused', async (t) => {
  const { newCaller, store, decide } = await openBench(t)
  const known = await newCaller()
  const stranger = await newCaller()
  await decide('any', { secretKey: known.secretKey })
  await decide('any', { authorization: `Bearer ${known.accessToken}` })
  await store.close()
  for (const credentials of [
    { secretKey: stranger.secretKey },
    { authorization: `Bearer ${stranger.accessToken}` },
  ]) {
    for (const auth of ['any', 'optional'] as const) {
      const error = await decide(auth, credentials).catch((error: unknown) => error)
      t.ok(error instanceof GatehouseError)
      t.match(error, { code: 'store-unavailable' })
    }
  }
  t.match(await decide('any', { secretKey: known.secretKey }), { kind: 'allowed' })
  t.match(await decide('any', { authorization: `Bearer ${known.accessToken}` }), { kind: 'allowed' })
})
