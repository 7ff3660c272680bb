import t, { type Test } from 'tap'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { createKey, digestOf } from '#platform/secrets/keys.ts'
import type { SecretKey } from '#store/secret-keys.ts'
import { newSecretKey, visitor } from '../../store/samples.ts'
import { lifetimeS } from './forged-tokens.ts'
import { codeOf, openSessions } from './sessions-harness.ts'

const minuteMs = 60_000

/** An account with a further key, limited so. */
async function start(t: Test, limits: Partial<SecretKey>, options: Parameters<typeof openSessions>[1] = {}) {
  const bench = await openSessions(t, options)
  const { account, apiKey } = await bench.createAccount()
  const secretKey = createKey('secretKey', account.id)
  const stored = newSecretKey({ name: 'further', digest: digestOf(secretKey), ...limits })
  t.equal(await bench.store.addSecretKey(account.id, { secretKey: stored, keysMax: 10 }), 'added')
  const startFrom = (address: string) => bench.sessions.start(secretKey, apiKey, { ...visitor, address })
  return { ...bench, account, startFrom }
}

t.test('a session, its tokens and what comes after a refresh end with their key', async (t) => {
  const { startFrom, sessions, accessTokens, store, account, time } = await start(t, {})
  const begunAt = time.nowMs
  const unlimited = await startFrom(visitor.address)
  t.match(accessTokens.verify(unlimited.accessToken), { claims: { scopes: [] } })

  const expiresAt = begunAt + 5 * minuteMs
  const limited = await start(t, { expiresAt })
  const first = await limited.startFrom(visitor.address)
  t.equal(first.refreshLifetimeMs, 5 * minuteMs)
  const page = { now: begunAt, limit: 10 }
  t.match(await limited.store.listSessions(limited.account.id, page), [{ expiresAt }])
  limited.time.nowMs += minuteMs
  const second = await limited.sessions.refresh(first.refreshToken, visitor)
  t.equal(second.refreshLifetimeMs, 4 * minuteMs)
  // Whoever verifies a token by itself knows nothing but its exp.
  for (const { accessToken } of [first, second])
    t.match(limited.accessTokens.verify(accessToken), { claims: { validUntil: expiresAt + 5_000 } })
  limited.time.nowMs = expiresAt - 1
  const last = await limited.sessions.refresh(second.refreshToken, visitor)
  limited.time.nowMs = expiresAt
  t.equal(await codeOf(limited.sessions.refresh(last.refreshToken, visitor)), 'refresh-token-expired')

  time.nowMs = expiresAt
  t.ok(await sessions.refresh(unlimited.refreshToken, visitor), 'one of a key without an end goes on')
  t.equal((await store.listSessions(account.id, page)).length, 1)
})

t.test('a token lives as usual where its key lives longer', async (t) => {
  const { startFrom, accessTokens, time } = await start(t, {})
  const { accessToken } = await startFrom(visitor.address)
  const validUntil = time.nowMs + lifetimeS * 1_000 + 5_000
  t.match(accessTokens.verify(accessToken), { claims: { validUntil } })
})

t.test('tokens have the scopes of their key, also after a refresh', async (t) => {
  const scopes = ['orders:read', 'orders:write']
  const { startFrom, sessions, accessTokens } = await start(t, { scopes })
  const first = await startFrom(visitor.address)
  const second = await sessions.refresh(first.refreshToken, visitor)
  for (const { accessToken } of [first, second])
    t.match(accessTokens.verify(accessToken), { kind: 'valid', claims: { scopes } })
})

t.test('a key with addresses starts sessions from these alone', async (t) => {
  const { startFrom, store, account, time } = await start(t, { addresses: ['192.0.2.0/28'] })
  for (const address of ['192.0.1.255', '192.0.2.16', '2001:db8::1', ''])
    t.equal(await codeOf(startFrom(address)), 'address-forbidden', address)
  t.strictSame(await store.listSessions(account.id, { now: time.nowMs, limit: 10 }), [])
  for (const address of ['192.0.2.0', '192.0.2.15']) t.ok(await startFrom(address), address)
})

t.test('a session is not started where its account is not admitted', async (t) => {
  const asked: string[] = []
  const admit = async (accountId: string) => {
    asked.push(accountId)
    throw new GatehouseError('rate-limited')
  }
  const { startFrom, store, account, time } = await start(t, {}, { admit })
  t.equal(await codeOf(startFrom(visitor.address)), 'rate-limited')
  t.strictSame(asked, [account.id])
  t.strictSame(await store.listSessions(account.id, { now: time.nowMs, limit: 10 }), [])
})
