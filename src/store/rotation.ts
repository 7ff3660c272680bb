import type { Visitor } from './visitor.ts'

export interface RefreshTokenUse {
  readonly sessionId: string
  readonly generation: number
  readonly now: number
  readonly graceMs: number
  readonly idleMs: number
  readonly visitor: Visitor
}

/** An answer with the refresh token of this generation has been sent. */
export interface RotationAcknowledgement {
  readonly sessionId: string
  readonly generation: number
  readonly at: number
}

/** `unknown` = gone, `reused` = this use has ended the session. */
export type RotationRefusal = 'unknown' | 'expired' | 'reused' | 'revoked'
