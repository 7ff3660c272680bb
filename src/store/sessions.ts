import { dayMs, type EpochMs } from '#platform/time.ts'
import type { Account } from './accounts.ts'
import type { AuditEntry } from './audit-entry.ts'
import { type KeyState, keyOfSession, keyState } from './secret-keys.ts'

/** How long a store keeps a session after its end, so that an expired token can be told from an unknown one. */
export const retentionAfterEndMs = dayMs

/** Token sessions, to which refresh tokens belong. */
export interface SessionStore {
  /**
   * Starts a session, unless the account has changed since `expected` was read. If the account already has `openMax`
   * sessions, the oldest ones end (`revoked`), so that there are never more. A session that exists is never opened
   * again.
   */
  startSession(
    session: NewSession,
    expected: Pick<Account, 'revision' | 'sessionEpoch'>,
  ): Promise<'started' | 'account-changed'>
  /**
   * One use of a refresh token, decided (`decideRotation`) and carried out in one step.
   * @param reuseEntry the audit entry of a use that ends the session, which is written in the same step
   */
  rotateSession(use: RefreshTokenUse, reuseEntry?: (account: Account) => AuditEntry): Promise<Rotation>
  /** Records which current refresh tokens were delivered; unknown or superseded ones are ignored. */
  acknowledgeRotations(acknowledgements: readonly RotationAcknowledgement[]): Promise<void>
  findSession(id: string): Promise<Session | undefined>
  /** A page of an account's sessions that have not ended, newest first, and those of the same time by ID. */
  listSessions(accountId: string, page: SessionsPage): Promise<readonly Session[]>
  /** Only the positions of these sessions, which takes a fraction of the time. */
  listSessionPositions(accountId: string, page: SessionsPage): Promise<readonly SessionPosition[]>
  /** False if there is no such session or it has already ended. */
  endSession(id: string, end: SessionEnd, audit?: AuditEntry): Promise<boolean>
  endSessions(accountId: string, audit?: AuditEntry): Promise<boolean>
}

export interface SessionsPage {
  readonly now: EpochMs
  /** The page begins after this one, which may have ended; undefined = with the newest. */
  readonly after?: SessionPosition | undefined
  readonly limit: number
}

export type SessionPosition = Pick<Session, 'id' | 'createdAt'>

export interface NewSession extends Pick<Session, 'id' | 'accountId' | 'createdAt' | 'expiresAt' | 'keyId'> {
  /** The session also ends when it is not refreshed for this long. */
  readonly idleMs: number
  /** How many sessions the account may have including this one, from 1. */
  readonly openMax: number
  /** Where it was started from. */
  readonly visitor: Visitor
}

/** Its address and User-Agent are those of its last refresh; before the first, those of its start. */
export interface Session extends Visitor {
  readonly id: string
  readonly accountId: string
  readonly createdAt: EpochMs
  /** Never extended. */
  readonly expiresAt: EpochMs
  /** Number of the current refresh token, from 1. */
  readonly generation: number
  readonly rotatedAt: EpochMs
  /** When the current refresh token was first delivered; undefined = no delivery is known. */
  readonly acknowledgedAt: EpochMs | undefined
  readonly sessionEpoch: number
  /** The secret key that it was started with, and ends with; '' = see SecretKey. */
  readonly keyId: string
  readonly end: SessionEnd | undefined
}

type SessionEnd = 'revoked' | 'reused'

export interface RefreshTokenUse {
  readonly sessionId: string
  readonly generation: number
  readonly now: EpochMs
  readonly graceMs: number
  readonly idleMs: number
  readonly visitor: Visitor
}

export type Rotation =
  /** `session` has the generation to issue: a new one, or the same current one again. */
  | { readonly kind: 'current'; readonly session: Session; readonly account: Account }
  | { readonly kind: 'over'; readonly reason: RotationRefusal }

/** `unknown` = deleted, `reused` = this use has ended the session. */
export type RotationRefusal = 'unknown' | 'expired' | 'reused' | 'revoked'

/** A response with the refresh token of this generation was sent. */
export interface RotationAcknowledgement {
  readonly sessionId: string
  readonly generation: number
  readonly at: EpochMs
}

/** The origin of a request, as far as it is known and may be stored. */
export interface Visitor {
  /** The client address; behind trusted proxies the forwarded one (X-Forwarded-For). */
  readonly address: string
  /** As it was sent, at most `userAgentLengthMax` characters of it; '' where there is none. */
  readonly userAgent: string
}

export const userAgentLengthMax = 200

type RotationDecision =
  | { readonly kind: 'refuse'; readonly reason: Exclude<RotationRefusal, 'reused'> }
  /** The session ends. */
  | { readonly kind: 'reuse'; readonly account: Account }
  /** The previous token, which may be reused within the grace period: the current token is returned again. */
  | { readonly kind: 'repeat'; readonly session: Session; readonly account: Account }
  | RotationAdvance

/** The session changes from `previous` to `session`. */
export interface RotationAdvance {
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
  const { generation, now, graceMs } = use
  if (!session || !account) return { kind: 'refuse', reason: 'unknown' }
  // Revocation is checked before the grace period, which must never restore a session.
  const reason = refusalOf(session, account, use)
  if (reason) return { kind: 'refuse', reason }
  // A token ahead of the session was issued by us, as its MAC is right: the store has lost its last changes.
  if (generation >= session.generation) {
    return { kind: 'advance', previous: session, session: rotatedSession(use, session), account }
  }
  const isRepeat = generation === session.generation - 1 && isReuseAllowed(session, now, graceMs)
  return isRepeat ? { kind: 'repeat', session, account } : { kind: 'reuse', account }
}

/** Why none of a session's refresh tokens can be used any more; undefined = the current one can. */
export function refusalOf(
  session: Session,
  account: Account,
  { now, idleMs }: Pick<RefreshTokenUse, 'now' | 'idleMs'>,
): 'revoked' | 'expired' | undefined {
  if (session.end !== undefined || account.isDisabled || session.sessionEpoch !== account.sessionEpoch)
    return 'revoked'
  const state = stateOfKey(session, account, now)
  if (state !== 'valid') return state
  return now >= endOfSession(session, idleMs) ? 'expired' : undefined
}

/** When a session ends without another refresh. */
export function endOfSession(
  { expiresAt, rotatedAt }: Pick<Session, 'expiresAt' | 'rotatedAt'>,
  idleMs: number,
): EpochMs {
  return Math.min(expiresAt, rotatedAt + idleMs)
}

/** The state of the key that started the session, or of the portal sessions of its epoch. */
function stateOfKey({ keyId }: Session, account: Account, now: EpochMs): KeyState {
  const portalEpoch = portalEpochIn(keyId)
  if (portalEpoch !== undefined) return portalEpoch === account.portal.epoch ? 'valid' : 'revoked'
  const key = keyOfSession(account.secretKeys, keyId)
  return key ? keyState(key, now) : 'revoked'
}

/**
 * Whether the previous token may still be used: until the current one is known to be delivered, and for the grace
 * period after that.
 */
function isReuseAllowed({ acknowledgedAt, rotatedAt }: Session, now: EpochMs, graceMs: number): boolean {
  if (acknowledgedAt === undefined) return true
  // Both times may be on the clock of another instance, which may be ahead of ours. An instance of an older version
  // leaves the time of an earlier rotation.
  return graceMs > 0 && now < Math.max(acknowledgedAt, rotatedAt) + graceMs
}

function rotatedSession({ generation, now, visitor }: RefreshTokenUse, session: Session): Session {
  return { ...session, ...visitor, generation: generation + 1, rotatedAt: now, acknowledgedAt: undefined }
}

/**
 * Takes the place of a key ID in a token session that was started by a sign-in to the portal: it belongs to no secret
 * key, and ends with the portal sessions of its epoch. No key has such an ID.
 */
const portalKeyPrefix = 'portal:'

/** @param epoch `portal.epoch` of the account */
export function portalKeyId(epoch: number): string {
  return `${portalKeyPrefix}${epoch}`
}

/** The epoch of a session that was started in the portal; undefined = it was started with a key. */
export function portalEpochIn(keyId: string): number | undefined {
  return keyId.startsWith(portalKeyPrefix) ? Number(keyId.slice(portalKeyPrefix.length)) : undefined
}
