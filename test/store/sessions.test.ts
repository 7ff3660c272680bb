import t from 'tap'
import type { Account } from '#store/accounts.ts'
import { noPortalAccess } from '#store/portal-access.ts'
import { decideRotation, portalKeyId, type RefreshTokenUse, type Session } from '#store/sessions.ts'
import { hour, newAccount, newSecretKey, now, second, visitor } from './samples.ts'

const graceMs = 10 * second
const idleMs = hour
const secretKey = newSecretKey()
const account = newAccount({ secretKeys: [secretKey] })
/** Its third token was given out and acknowledged just now. */
const session: Session = {
  id: 'a-session',
  accountId: account.id,
  createdAt: now,
  expiresAt: now + 24 * hour,
  generation: 3,
  rotatedAt: now,
  acknowledgedAt: now,
  sessionEpoch: account.sessionEpoch,
  keyId: secretKey.id,
  end: undefined,
  ...visitor,
}

interface Case {
  readonly use?: Partial<RefreshTokenUse>
  readonly session?: Partial<Session>
  readonly account?: Partial<Account>
}

/** What becomes of the third token: `advance`, `repeat`, or why it is refused. */
function outcomeOf({ use, session: ofSession, account: ofAccount }: Case): string {
  const decision = decideRotation(
    { sessionId: session.id, generation: 3, now, graceMs, idleMs, visitor, ...use },
    { ...session, ...ofSession },
    { ...account, ...ofAccount },
  )
  return decision.kind === 'refuse' ? decision.reason : decision.kind
}

t.test('a session ends at its times, to the millisecond', async (t) => {
  const expiresAt = now + 30 * second
  for (const [what, ends] of [
    ['its end', { session: { expiresAt } }],
    ['idle for too long', { use: { idleMs: 30 * second } }],
    ['the end of its key', { account: { secretKeys: [{ ...secretKey, expiresAt }] } }],
  ] as const satisfies [string, Case][]) {
    const at = (time: number): Case => ({ ...ends, use: { ...('use' in ends && ends.use), now: time } })
    t.equal(outcomeOf(at(expiresAt - 1)), 'advance', what)
    t.equal(outcomeOf(at(expiresAt)), 'expired', what)
  }
  const secretKeys = [{ ...secretKey, revokedAt: expiresAt }]
  t.equal(outcomeOf({ account: { secretKeys }, use: { now: expiresAt - 1 } }), 'advance')
  t.equal(outcomeOf({ account: { secretKeys }, use: { now: expiresAt } }), 'revoked')
})

t.test('the previous token is good for a repeat until the end of its grace', async (t) => {
  const previous = (changes: Partial<RefreshTokenUse>, ofSession: Partial<Session> = {}) =>
    outcomeOf({ use: { generation: 2, ...changes }, session: ofSession })
  t.equal(previous({ now: now + graceMs - 1 }), 'repeat')
  t.equal(previous({ now: now + graceMs }), 'reuse')
  t.equal(previous({ graceMs: 0 }), 'reuse', 'without any grace')
  const unknown = { acknowledgedAt: undefined }
  t.equal(previous({ now: now + idleMs - 1, graceMs: 0 }, unknown), 'repeat', 'no delivery is known')
  // Of the clock of another instance, or of an earlier rotation.
  const earlier = { acknowledgedAt: now - hour }
  t.equal(previous({ now: now + graceMs - 1 }, earlier), 'repeat')
  t.equal(previous({ now: now + graceMs }, earlier), 'reuse')
  const later = { acknowledgedAt: now + second }
  t.equal(previous({ now: now + second + graceMs - 1 }, later), 'repeat')
  t.equal(previous({ now: now + second + graceMs }, later), 'reuse')
})

t.test('any earlier token than the previous one was reused, also within the grace', async (t) => {
  t.equal(outcomeOf({ use: { generation: 1 } }), 'reuse')
  t.equal(outcomeOf({ use: { generation: 1 }, session: { acknowledgedAt: undefined } }), 'reuse')
  t.equal(outcomeOf({ use: { generation: 4 } }), 'advance', 'the store has lost the last change')
})

t.test('what is revoked stays so, whichever token comes and whatever else has ended', async (t) => {
  const fromPortal: Case = { session: { keyId: portalKeyId(1) }, account: { portal: noPortalAccess } }
  t.equal(outcomeOf(fromPortal), 'advance')
  for (const [what, revoked] of [
    ['the session', { session: { end: 'revoked' } }],
    ['the account', { account: { isDisabled: true } }],
    ['all sessions', { account: { sessionEpoch: account.sessionEpoch + 1 } }],
    ['its key', { account: { secretKeys: [newSecretKey()] } }],
    ['the portal', { ...fromPortal, account: { portal: { ...noPortalAccess, epoch: 2 } } }],
  ] as const satisfies [string, Case][])
    for (const generation of [1, 2, 3])
      for (const time of [now, now + 48 * hour])
        t.equal(outcomeOf({ ...revoked, use: { generation, now: time } }), 'revoked', what)
})

t.test('a rotation begins a new wait for its delivery, and starts the idle time anew', async (t) => {
  const use = { sessionId: session.id, generation: 3, now: now + second, graceMs, idleMs, visitor }
  t.match(decideRotation(use, session, account), {
    kind: 'advance',
    previous: { generation: 3 },
    session: {
      generation: 4,
      rotatedAt: now + second,
      acknowledgedAt: undefined,
      expiresAt: session.expiresAt,
    },
  })
  t.match(decideRotation(use, undefined, account), { reason: 'unknown' })
  t.match(decideRotation(use, session, undefined), { reason: 'unknown' })
})
