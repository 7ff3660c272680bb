import type { Account } from './accounts.ts'
import { type KeyState, keyOfSession, keyState, portalEpochIn } from './secret-keys.ts'
import type { RefreshTokenUse, RotationRefusal, Session } from './sessions.ts'

export type RotationDecision =
  | { readonly kind: 'refuse'; readonly reason: RotationRefusal }
  /** The previous token, which may be reused within the grace period: the current token is returned again. */
  | { readonly kind: 'repeat'; readonly session: Session; readonly account: Account }
  /** The session changes from `previous` to `session`. */
  | {
      readonly kind: 'advance'
      readonly previous: Session
      readonly session: Session
      readonly account: Account
    }

/**
 * What one use of a refresh token leads to (RFC 9700 4.14.2). An adapter carries it out atomically: in a transaction,
 * or by a script that does nothing if the session or account has changed since.
 */
export function decideRotation(
  use: RefreshTokenUse,
  session: Session | undefined,
  account: Account | undefined,
): RotationDecision {
  const { generation, now, graceMs, idleMs } = use
  if (!session || !account) return { kind: 'refuse', reason: 'unknown' }
  // Revocation is checked before the grace period, which must never restore a session.
  const isRevoked =
    session.end !== undefined || account.isDisabled || session.sessionEpoch !== account.sessionEpoch
  const state = stateOfKey(session, account, now)
  if (isRevoked || state === 'revoked') return { kind: 'refuse', reason: 'revoked' }
  if (state === 'expired' || now >= session.expiresAt || now >= session.rotatedAt + idleMs)
    return { kind: 'refuse', reason: 'expired' }
  // A token ahead of the session was issued by us, as its MAC is right: the store has lost its last changes.
  if (generation >= session.generation) {
    return { kind: 'advance', previous: session, session: rotatedSession(use, session), account }
  }
  const isRepeat = generation === session.generation - 1 && isReuseAllowed(session, now, graceMs)
  return isRepeat ? { kind: 'repeat', session, account } : { kind: 'refuse', reason: 'reused' }
}

/** The state of the key that started the session, or of the portal sessions of its epoch. */
function stateOfKey({ keyId }: Session, account: Account, now: number): KeyState {
  const portalEpoch = portalEpochIn(keyId)
  if (portalEpoch !== undefined) return portalEpoch === account.portal.epoch ? 'valid' : 'revoked'
  const key = keyOfSession(account.secretKeys, keyId)
  return key ? keyState(key, now) : 'revoked'
}

/**
 * Whether the previous token may still be used: until the current one is known to be delivered, and for the grace
 * period after that.
 */
function isReuseAllowed({ acknowledgedAt, rotatedAt }: Session, now: number, graceMs: number): boolean {
  if (acknowledgedAt === undefined) return true
  // Both times may be on the clock of another instance, which may be ahead of ours. An instance of an older version
  // leaves the time of an earlier rotation.
  return graceMs > 0 && now < Math.max(acknowledgedAt, rotatedAt) + graceMs
}

function rotatedSession({ generation, now, visitor }: RefreshTokenUse, session: Session): Session {
  return { ...session, ...visitor, generation: generation + 1, rotatedAt: now, acknowledgedAt: undefined }
}
