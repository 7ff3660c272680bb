import type { Account, RefreshTokenUse, RotationRefusal, Session } from './store.ts'

export type Verdict =
  | { readonly kind: 'refuse'; readonly why: RotationRefusal }
  /** It is the token just replaced, within the grace: the current one is given out again. */
  | { readonly kind: 'repeat'; readonly session: Session; readonly account: Account }
  | { readonly kind: 'advance'; readonly session: Session; readonly account: Account }

/**
 * What one use of a refresh token leads to (RFC 9700 4.14.2). An adapter carries it out atomically: within a
 * transaction, or by a script that does nothing if the session or account has changed since.
 */
export function judgeRefreshToken(
  { generation, now, graceMs, idleMs }: RefreshTokenUse,
  session: Session | undefined,
  account: Account | undefined,
): Verdict {
  if (!session || !account) return { kind: 'refuse', why: 'unknown' }
  // Revocation is checked before the grace, which must never bring a session back.
  const isOver =
    session.end !== undefined || account.isDisabled || session.sessionEpoch !== account.sessionEpoch
  if (isOver) return { kind: 'refuse', why: 'revoked' }
  if (now >= session.expiresAt || now >= session.rotatedAt + idleMs) return { kind: 'refuse', why: 'expired' }
  if (generation > session.generation) return { kind: 'refuse', why: 'ahead' }
  if (generation === session.generation) return { kind: 'advance', session, account }
  // rotatedAt is on the clock of another instance, which may be ahead of ours: it may be later than now.
  const isPrevious = generation === session.generation - 1
  const isGrace = isPrevious && graceMs > 0 && now < session.rotatedAt + graceMs
  return isGrace ? { kind: 'repeat', session, account } : { kind: 'refuse', why: 'reused' }
}
