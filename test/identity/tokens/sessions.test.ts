import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { createKey } from '#platform/secrets/keys.ts'
import { visitor } from '../../store/samples.ts'
import { codeOf, openSessions } from './sessions-harness.ts'

t.test('both keys of an account start a session', async (t) => {
  const { sessions, accessTokens, store, time, createAccount } = await openSessions(t)
  const { account, secretKey, apiKey } = await createAccount()
  const issued = await sessions.start(secretKey, apiKey, visitor)
  t.equal(issued.account.id, account.id)
  t.equal(
    issued.refreshLifetimeMs,
    7 * 86_400_000,
    'the refresh token is of use until it is idle for too long',
  )
  const [session] = await store.listSessions(account.id, { now: time.nowMs, limit: 1_000 })
  t.match(session, { generation: 1, createdAt: time.nowMs, expiresAt: time.nowMs + 30 * 86_400_000 })
  t.match(accessTokens.verify(issued.accessToken), {
    kind: 'valid',
    claims: { accountId: account.id, sessionId: session?.id, role: 'User' },
  })
})

t.test('every wrong key pair is refused alike', async (t) => {
  const { sessions, store, time, createAccount } = await openSessions(t)
  const ada = await createAccount()
  const bob = await createAccount()
  const pairs = {
    'keys of two accounts': [ada.secretKey, bob.apiKey],
    'the keys exchanged': [ada.apiKey, ada.secretKey],
    'one key twice': [ada.secretKey, ada.secretKey],
    'another secret key of the account': [createKey('secretKey', ada.account.id), ada.apiKey],
    'another API key of the account': [ada.secretKey, createKey('apiKey', ada.account.id)],
    'keys of nobody': [createKey('secretKey', 'x'.repeat(16)), createKey('apiKey', 'x'.repeat(16))],
    'the secret key of nobody': [createKey('secretKey', 'x'.repeat(16)), ada.apiKey],
    'a wrong checksum': [`${ada.secretKey.slice(0, -1)}~`, ada.apiKey],
    nothing: ['', ''],
    megabytes: ['x'.repeat(1_000_000), 'x'.repeat(1_000_000)],
  } as const
  const errors = new Set<string>()
  for (const [name, [secretKey, apiKey]] of Object.entries(pairs)) {
    const error = await sessions.start(secretKey, apiKey, visitor).catch((error: unknown) => error)
    t.match(error, { code: 'credentials-invalid', status: 401 }, name)
    errors.add(String(error))
  }
  t.equal(errors.size, 1)
  for (const { account } of [ada, bob])
    t.strictSame(await store.listSessions(account.id, { now: time.nowMs, limit: 1_000 }), [])
})

t.test('a disabled account is reported as disabled only to its own keys', async (t) => {
  const { sessions, accounts, createAccount } = await openSessions(t)
  const { account, secretKey, apiKey } = await createAccount()
  await accounts.update(account.id, { isDisabled: true })
  t.equal(await codeOf(sessions.start(secretKey, apiKey, visitor)), 'account-disabled')
  t.equal(
    await codeOf(sessions.start(secretKey, createKey('apiKey', account.id), visitor)),
    'credentials-invalid',
  )
})

t.test('a secret key that was reset starts sessions until its grace ends', async (t) => {
  const { sessions, keys, time, createAccount } = await openSessions(t)
  const { account, secretKey, apiKey } = await createAccount()
  const next = await keys.resetSecretKey(account.id, 60)
  const { refreshToken } = await sessions.start(secretKey, apiKey, visitor)
  t.ok(await sessions.start(next, apiKey, visitor))
  time.nowMs += 60_000
  t.equal(await codeOf(sessions.start(secretKey, apiKey, visitor)), 'credentials-invalid')
  t.ok(await sessions.refresh(refreshToken, visitor), 'what it has started goes on')
  await keys.resetSecretKey(account.id, 0)
  t.equal(await codeOf(sessions.start(next, apiKey, visitor)), 'credentials-invalid')
  t.equal(await codeOf(sessions.refresh(refreshToken, visitor)), 'session-revoked')
})

t.test('without a signing key no session starts and no refresh token is spent', async (t) => {
  const { sessions, keyring, store, time, createAccount } = await openSessions(t)
  const { account, secretKey, apiKey } = await createAccount()
  const { refreshToken } = await sessions.start(secretKey, apiKey, visitor)
  const keys = [keyring.signer(time.nowMs)]
  keyring.replace([])
  t.equal(await codeOf(sessions.start(secretKey, apiKey, visitor)), 'store-unavailable')
  t.equal(await codeOf(sessions.refresh(refreshToken, visitor)), 'store-unavailable')
  t.match(await store.listSessions(account.id, { now: time.nowMs, limit: 1_000 }), [{ generation: 1 }])
  t.equal((await store.listSessions(account.id, { now: time.nowMs, limit: 1_000 })).length, 1)
  keyring.replace(keys)
  t.ok(await sessions.refresh(refreshToken, visitor))
})

t.test('an account changed during a session start is read again', async (t) => {
  const { sessions, accounts, store, time, createAccount } = await openSessions(t)
  const { account, secretKey, apiKey } = await createAccount()
  const starts = Array.from({ length: 10 }, () => sessions.start(secretKey, apiKey, visitor))
  const changes = Array.from({ length: 3 }, () => accounts.update(account.id, { firstName: 'Grace' }))
  t.equal((await Promise.all([...starts, ...changes])).length, 13)
  t.equal((await store.listSessions(account.id, { now: time.nowMs, limit: 1_000 })).length, 10)
})

t.test('a session start that races a key reset leaves no live session', async (t) => {
  const { sessions, keys, store, time, createAccount } = await openSessions(t)
  const { account, apiKey, ...created } = await createAccount()
  let { secretKey } = created
  let started = 0
  /** A turn later each round, so that some sessions have started by then and some have not. */
  async function resetAfter(turns: number): Promise<string> {
    for (let passed = 0; passed < turns; passed++) await turn()
    return keys.resetSecretKey(account.id, 0)
  }
  for (let round = 0; round < 10; round++) {
    const [issued, next] = await Promise.all([
      sessions.start(secretKey, apiKey, visitor).catch(() => undefined),
      resetAfter(round),
    ])
    t.strictSame(await store.listSessions(account.id, { now: time.nowMs, limit: 1_000 }), [])
    if (issued) {
      started++
      t.equal(await codeOf(sessions.refresh(issued.refreshToken, visitor)), 'session-revoked')
    }
    t.equal(await codeOf(sessions.start(secretKey, apiKey, visitor)), 'credentials-invalid')
    secretKey = next
  }
  t.ok(started > 0 && started < 10, `${started} of 10 sessions had started before the reset`)
})
