import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { createRefreshTokens, createSessionId } from '#identity/tokens/refresh-tokens.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { visitor } from '../../store/samples.ts'
import { codeOf, openSessions } from './sessions-harness.ts'

t.test('a refresh returns both new tokens and the current account', async (t) => {
  const { sessions, accounts, accessTokens, time, createAccount } = await openSessions(t)
  const { account, secretKey, apiKey } = await createAccount()
  const first = await sessions.start(secretKey, apiKey, visitor)
  time.nowMs += 60_000
  await accounts.update(account.id, { role: 'Admin' })
  const second = await sessions.refresh(first.refreshToken, visitor)
  t.not(second.refreshToken, first.refreshToken)
  t.match(accessTokens.verify(second.accessToken), { claims: { role: 'Admin', issuedAt: time.nowMs } })
  t.equal(
    (await sessions.refresh(first.refreshToken, visitor)).refreshToken,
    second.refreshToken,
    'again, the same one',
  )
})

t.test('a spent refresh token revokes its whole session', async (t) => {
  const { sessions, refresh, store, time, createAccount } = await openSessions(t)
  const { account, secretKey, apiKey } = await createAccount()
  const tokens = [(await sessions.start(secretKey, apiKey, visitor)).refreshToken]
  const kept = await sessions.start(secretKey, apiKey, visitor)
  for (let turn = 0; turn < 2; turn++) tokens.push((await refresh(tokens.at(-1) ?? '')).refreshToken)
  t.equal(await codeOf(sessions.refresh(tokens[0] ?? '', visitor)), 'refresh-token-reused')
  for (const token of tokens) t.equal(await codeOf(sessions.refresh(token, visitor)), 'session-revoked')
  t.equal((await store.listSessions(account.id, { now: time.nowMs, limit: 1_000 })).length, 1)
  t.ok(await sessions.refresh(kept.refreshToken, visitor), 'and no other')
})

t.test('a replaced refresh token is accepted until the grace ends', async (t) => {
  const { sessions, refresh, time, createAccount } = await openSessions(t)
  const { secretKey, apiKey } = await createAccount()
  const first = await sessions.start(secretKey, apiKey, visitor)
  const second = await refresh(first.refreshToken)
  time.nowMs += 9_999
  t.equal((await refresh(first.refreshToken)).refreshToken, second.refreshToken)
  time.nowMs += 1
  t.equal(await codeOf(sessions.refresh(first.refreshToken, visitor)), 'refresh-token-reused')
  t.equal(await codeOf(sessions.refresh(second.refreshToken, visitor)), 'session-revoked')
})

t.test('the grace starts when the next token is delivered, not when it is made', async (t) => {
  const { sessions, refresh, time, createAccount } = await openSessions(t)
  const { secretKey, apiKey } = await createAccount()
  const first = await sessions.start(secretKey, apiKey, visitor)
  const lost = await sessions.refresh(first.refreshToken, visitor)
  t.equal(lost.refreshLifetimeMs, 7 * 86_400_000)
  time.nowMs += 86_400_000
  const second = await refresh(first.refreshToken)
  t.equal(second.refreshToken, lost.refreshToken, 'a day later it is the same one')
  t.equal(second.refreshLifetimeMs, 6 * 86_400_000, 'which lives no longer for that')
  time.nowMs += 9_999
  t.ok(await refresh(first.refreshToken))
  time.nowMs += 1
  t.equal(await codeOf(sessions.refresh(first.refreshToken, visitor)), 'refresh-token-reused')
})

t.test('without a grace a second use of a refresh token is a reuse, even before the answer', async (t) => {
  const { sessions, createAccount } = await openSessions(t, { reuseGraceMs: 0 })
  const { secretKey, apiKey } = await createAccount()
  for (const count of [2, 20]) {
    const { refreshToken } = await sessions.start(secretKey, apiKey, visitor)
    const uses = Array.from({ length: count }, () => codeOf(sessions.refresh(refreshToken, visitor)))
    const codes = (await Promise.all(uses)).map((code) => (typeof code === 'string' ? code : 'given'))
    t.strictSame(codes.slice(0, 2), ['given', 'refresh-token-reused'])
    t.notOk(codes.slice(1).includes('given'))
  }
})

t.test('without a grace the refreshes of one session run one after another', async (t) => {
  let running = 0
  let mostAtOnce = 0
  const { sessions, createAccount } = await openSessions(t, { reuseGraceMs: 0 }, (store) => ({
    ...store,
    rotateSession: async (use) => {
      running++
      mostAtOnce = Math.max(mostAtOnce, running)
      // Whoever does not wait begins meanwhile.
      await setImmediate()
      return store.rotateSession(use).finally(() => running--)
    },
  }))
  const { secretKey, apiKey } = await createAccount()
  const [one, other] = [
    await sessions.start(secretKey, apiKey, visitor),
    await sessions.start(secretKey, apiKey, visitor),
  ]
  const refreshAll = (tokens: readonly string[]) =>
    Promise.all(tokens.map((token) => codeOf(sessions.refresh(token, visitor))))
  await refreshAll(Array.from({ length: 4 }, () => one.refreshToken))
  t.equal(mostAtOnce, 1)
  await refreshAll([one.refreshToken, other.refreshToken])
  t.equal(mostAtOnce, 2, 'but no session waits for another')
})

t.test('without a grace an unanswered refresh may be repeated', async (t) => {
  let isFailing = true
  const { sessions, createAccount } = await openSessions(t, { reuseGraceMs: 0 }, (store) => ({
    ...store,
    rotateSession: async (use) => {
      const rotation = await store.rotateSession(use)
      // As Redis does where no replica confirms.
      if (isFailing) throw new GatehouseError('store-unavailable')
      return rotation
    },
  }))
  const { secretKey, apiKey } = await createAccount()
  const { refreshToken } = await sessions.start(secretKey, apiKey, visitor)
  for (let failure = 0; failure < 3; failure++) {
    t.equal(await codeOf(sessions.refresh(refreshToken, visitor)), 'store-unavailable')
  }
  isFailing = false
  const { refreshToken: next } = await sessions.refresh(refreshToken, visitor)
  t.not(next, refreshToken)
  t.equal(await codeOf(sessions.refresh(refreshToken, visitor)), 'refresh-token-reused')
})

t.test('a session ends by idleness and by lifetime, as its cookie says', async (t) => {
  const options = { refreshLifetimeMs: 100_000, refreshIdleMs: 60_000 }
  const { sessions, time, createAccount } = await openSessions(t, options)
  const { secretKey, apiKey } = await createAccount()
  const idle = await sessions.start(secretKey, apiKey, visitor)
  t.equal(idle.refreshLifetimeMs, 60_000)
  let { refreshToken } = await sessions.start(secretKey, apiKey, visitor)
  time.nowMs += 59_999
  const second = await sessions.refresh(refreshToken, visitor)
  t.equal(second.refreshLifetimeMs, 40_001, 'never beyond the end')
  refreshToken = second.refreshToken
  time.nowMs += 1
  t.equal(await codeOf(sessions.refresh(idle.refreshToken, visitor)), 'refresh-token-expired')
  time.nowMs += 39_999
  refreshToken = (await sessions.refresh(refreshToken, visitor)).refreshToken
  time.nowMs += 1
  t.equal(await codeOf(sessions.refresh(refreshToken, visitor)), 'refresh-token-expired')
})

t.test('a foreign refresh token is refused and ends no session', async (t) => {
  const { sessions, createAccount } = await openSessions(t)
  const { secretKey, apiKey } = await createAccount()
  const { refreshToken, accessToken } = await sessions.start(secretKey, apiKey, visitor)
  const forged = createRefreshTokens(new Uint8Array(32)).create(createSessionId(), 1)
  for (const text of [
    '',
    'x',
    accessToken,
    secretKey,
    forged,
    `${refreshToken.slice(0, -1)}~`,
    `${refreshToken} `,
  ]) {
    t.equal(await codeOf(sessions.refresh(text, visitor)), 'refresh-token-invalid')
    t.equal(await codeOf(sessions.revoke(text)), undefined, 'nor is it an error to revoke it')
  }
  t.ok(await sessions.refresh(refreshToken, visitor))
})

t.test('revoking any token of a session ends it, any number of times', async (t) => {
  const { sessions, store, createAccount } = await openSessions(t)
  const { account, secretKey, apiKey } = await createAccount()
  const first = await sessions.start(secretKey, apiKey, visitor)
  const second = await sessions.refresh(first.refreshToken, visitor)
  await sessions.revoke(first.refreshToken)
  await sessions.revoke(second.refreshToken)
  for (const { refreshToken } of [first, second])
    t.equal(await codeOf(sessions.refresh(refreshToken, visitor)), 'session-revoked')
  await store.deleteAccount(account.id)
  await sessions.revoke(second.refreshToken)
  t.equal(await codeOf(sessions.refresh(second.refreshToken, visitor)), 'session-revoked')
})

t.test('a disabled or deleted account cannot refresh', async (t) => {
  const { sessions, accounts, createAccount } = await openSessions(t)
  for (const end of [(id: string) => accounts.update(id, { isDisabled: true }), accounts.remove]) {
    const { account, secretKey, apiKey } = await createAccount()
    const { refreshToken } = await sessions.start(secretKey, apiKey, visitor)
    await end(account.id)
    t.equal(await codeOf(sessions.refresh(refreshToken, visitor)), 'session-revoked')
  }
})
