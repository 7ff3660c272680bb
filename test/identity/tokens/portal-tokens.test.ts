import { randomBytes } from 'node:crypto'
import t, { type Test } from 'tap'
import { createPortalTokens, type PortalTokensOptions } from '#identity/tokens/issued-tokens.ts'
import { createRefreshTokens, createSessionId } from '#identity/tokens/refresh-tokens.ts'
import type { Store } from '#store/store.ts'
import { newAccount, visitor } from '../../store/samples.ts'
import { newSqlitePlace } from '../../store/sqlite/place.ts'
import { createBench, newSigningKey, startS } from './forged-tokens.ts'

const hourMs = 3_600_000

/**
 * Somebody who has signed in to the portal, and the tokens for the cookies.
 * @param behind what stands before the store
 */
async function start(
  t: Test,
  behind: (store: Store) => Partial<Store> = () => ({}),
  options: Partial<PortalTokensOptions> = {},
) {
  const store = await (await newSqlitePlace(t)).open()
  const now = startS * 1_000
  const clock = () => now
  const { accessTokens } = createBench([newSigningKey('key')], { clock })
  const refreshTokens = createRefreshTokens(randomBytes(32))
  const portalTokens = createPortalTokens({
    store: { ...store, ...behind(store) },
    accessTokens,
    refreshTokens,
    refreshIdleMs: 24 * hourMs,
    openMax: 100,
    needsEnrolment: () => false,
    onIssued: () => {},
    clock,
    ...options,
  })
  const created = newAccount()
  await store.createAccounts([created])
  const times = { createdAt: now, expiresAt: now + hourMs }
  const session = { id: createSessionId(), accountId: created.id, digest: 'x', ...times, ...visitor }
  await store.startPortalSession(session, created)
  async function issue() {
    const [account, found] = await Promise.all([
      store.findAccount(created.id),
      store.findPortalSession(created.id, session.id),
    ])
    if (!account) throw new Error('the account is gone')
    return portalTokens.issue({ account, session: found ?? { ...session, seenAt: now, epoch: 1 } }, visitor)
  }
  return { store, account: created, session, issue, accessTokens, portalTokens, now }
}

t.test('a portal session has one session of tokens, which ends no later', async (t) => {
  const { store, account, session, issue, accessTokens, now } = await start(t)
  const first = await issue()
  const second = await issue()
  const validUntil = now + 600_000 + 5_000
  for (const issued of [first, second])
    t.match(accessTokens.verify(issued?.accessToken ?? ''), {
      claims: { sessionId: session.id, accountId: account.id, scopes: [], validUntil },
    })
  t.equal(first?.refreshLifetimeMs, hourMs)
  const open = await store.listSessions(account.id, { now, limit: 10 })
  t.match(open, [{ id: session.id, expiresAt: now + hourMs }])
})

for (const [what, end] of [
  ['the session of its tokens', ({ store, session }) => store.endSession(session.id, 'revoked')],
  ['all sessions of the account', ({ store, account }) => store.endSessions(account.id)],
  ['all portal sessions of the account', ({ store, account }) => store.endPortalSessions(account.id)],
] satisfies [string, (bench: Awaited<ReturnType<typeof start>>) => Promise<unknown>][]) {
  t.test(`a portal session gives no tokens after the end of ${what}`, async (t) => {
    const bench = await start(t)
    t.ok(await bench.issue())
    await end(bench)
    t.equal(await bench.issue(), undefined)
    t.equal(await bench.issue(), undefined, 'nor does it start another')
  })
}

t.test('a sign-out while the tokens are made ends them too', async (t) => {
  const { store, session, issue, portalTokens } = await start(t, (store) => ({
    startSession: async (session, expected) => {
      const started = await store.startSession(session, expected)
      await store.endPortalSession(session.accountId, session.id)
      return started
    },
  }))
  t.equal(await issue(), undefined)
  t.match(await store.findSession(session.id), { end: 'revoked' })
  t.equal(await portalTokens.isEnded(session.id), true)
})

t.test('whoever has to set up a second factor gets no tokens before', async (t) => {
  const { store, account, issue, now } = await start(t, () => ({}), { needsEnrolment: () => true })
  t.equal(await issue(), undefined)
  t.strictSame(await store.listSessions(account.id, { now, limit: 10 }), [])
})

t.test('an account that is disabled meanwhile gets no tokens', async (t) => {
  const { store, account, issue, now } = await start(t, (store) => ({
    startSession: async (session, expected) => {
      await store.updateAccount(account.id, { isDisabled: true })
      return store.startSession(session, expected)
    },
  }))
  t.equal(await issue(), undefined)
  t.strictSame(await store.listSessions(account.id, { now, limit: 10 }), [])
})
