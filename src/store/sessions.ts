import { dayMs } from '#platform/time.ts'
import type { Account } from './accounts.ts'
import type { AuditEntry } from './audit-entry.ts'

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
  /** One use of a refresh token, decided and carried out in one step (see decide-rotation.ts). */
  rotateSession(use: RefreshTokenUse): Promise<Rotation>
  /** Records which current refresh tokens were delivered; unknown or superseded ones are ignored. */
  acknowledgeRotations(acknowledgements: readonly RotationAcknowledgement[]): Promise<void>
  findSession(id: string): Promise<Session | undefined>
  /** A page of an account's sessions that have not ended, newest first, and those of the same time by ID. */
  listSessions(accountId: string, page: SessionsPage): Promise<readonly Session[]>
  /** Only the positions of these sessions, which takes a fraction of the time. */
  listSessionPositions(accountId: string, page: SessionsPage): Promise<readonly SessionPosition[]>
  /** False if there is no such session or it has already ended. */
  endSession(id: string, end: SessionEnd, audit?: AuditEntry): Promise<boolean>
  /** Ends all sessions of an account. */
  endSessions(accountId: string, audit?: AuditEntry): Promise<boolean>
}

export interface SessionsPage {
  readonly now: number
  /** The page begins after this one, which may have ended; undefined = with the newest. */
  readonly after?: SessionPosition | undefined
  readonly limit: number
}

export type SessionPosition = Pick<Session, 'id' | 'createdAt'>

export interface NewSession {
  readonly id: string
  readonly accountId: string
  readonly createdAt: number
  /** Never extended. */
  readonly expiresAt: number
  /** The session also ends when it is not refreshed for this long. */
  readonly idleMs: number
  /** The secret key that it was started with: see SecretKey. */
  readonly keyId: string
  /** How many sessions the account may have including this one, from 1. */
  readonly openMax: number
  /** Where it was started from. */
  readonly visitor: Visitor
}

export interface Session {
  readonly id: string
  readonly accountId: string
  readonly createdAt: number
  readonly expiresAt: number
  /** Number of the current refresh token, from 1. */
  readonly generation: number
  readonly rotatedAt: number
  /** When the current refresh token was first delivered; undefined = no delivery is known. */
  readonly acknowledgedAt: number | undefined
  readonly sessionEpoch: number
  /** The secret key that it was started with, and ends with; '' = see SecretKey. */
  readonly keyId: string
  readonly end: SessionEnd | undefined
  /** The address from which it was started, or last refreshed. */
  readonly address: string
  readonly userAgent: string
}

export type SessionEnd = 'revoked' | 'reused'

export interface RefreshTokenUse {
  readonly sessionId: string
  readonly generation: number
  readonly now: number
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
  readonly at: number
}

/** The origin of a request, as far as it is known and may be stored. */
export interface Visitor {
  /** The client address; behind trusted proxies the forwarded one (X-Forwarded-For). */
  readonly address: string
  /** As it was sent, at most `userAgentLengthMax` characters of it; '' where there is none. */
  readonly userAgent: string
}

/** How much of a User-Agent is kept. */
export const userAgentLengthMax = 200
