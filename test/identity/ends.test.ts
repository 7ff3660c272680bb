import t from 'tap'
import { createKey, digestOf } from '#platform/secrets/keys.ts'
import type { SecretKey } from '#store/secret-keys.ts'
import { newSecretKey, visitor } from '../store/samples.ts'
import { openBench, wordOf } from './auth-harness.ts'

/** What is decided at the end of a key or token, and until when a decision may be reused. */

const clockToleranceMs = 5_000
const bench = await openBench(t, { clockToleranceMs })
const { store, sessions, keys, decide, newCaller, time } = bench

/** An account with a key that ends so, and the token of a session that was started with it. */
async function newKey(ends: Pick<SecretKey, 'expiresAt'>) {
  const { id, apiKey } = await newCaller()
  const secretKey = createKey('secretKey', id)
  const stored = newSecretKey({ ...ends, name: 'further', digest: digestOf(secretKey) })
  t.equal(await store.addSecretKey(id, { secretKey: stored, keysMax: 10 }), 'added')
  const { accessToken } = await sessions.start(secretKey, apiKey, visitor)
  return { id, secretKey, accessToken }
}
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

t.test('a key, and the token of its session, end when the key expires', async (t) => {
  const expiresAt = time.nowMs + 60_000
  const { secretKey, accessToken } = await newKey({ expiresAt })
  t.match(await decide('any', { secretKey }), { kind: 'allowed', holdsUntil: expiresAt })
  t.match(await decide('any', bearer(accessToken)), { kind: 'allowed', holdsUntil: expiresAt })
  time.nowMs = expiresAt - 1
  t.equal(wordOf(await decide('any', { secretKey })), 'secretKey')
  t.equal(wordOf(await decide('any', bearer(accessToken))), 'bearer')
  time.nowMs = expiresAt
  t.equal(wordOf(await decide('any', { secretKey })), 'secret-key-expired')
  t.equal(wordOf(await decide('any', bearer(accessToken))), 'token-revoked', 'the tolerance is for clocks')
})

t.test('a key within an overlap holds until its end', async (t) => {
  const { id, secretKey } = await newCaller()
  await keys.resetSecretKey(id, 60)
  t.match(await decide('any', { secretKey }), { kind: 'allowed', holdsUntil: time.nowMs + 60_000 })
})

t.test('a token of a key without an end holds until the token expires', async (t) => {
  const { accessToken } = await newKey({ expiresAt: undefined })
  const expiresAt = Math.floor(time.nowMs / 1_000) * 1_000 + 600_000
  t.match(await decide('any', bearer(accessToken)), { holdsUntil: expiresAt + clockToleranceMs })
})
