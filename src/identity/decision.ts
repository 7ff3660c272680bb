import type { ErrorCode } from '#platform/errors/codes.ts'
import type { SchemeName } from './access.ts'
import type { Principal } from './principal.ts'

/** What authenticated, or was refused, for logs and metrics: `cookie` = the access cookie, by the rules of a token. */
export type DecisionScheme = SchemeName | 'cookie'

/** Whether a request is admitted: as a principal, anonymously, or not, with the reason. */
export type Decision = AllowedDecision | Refusal

export interface AllowedDecision {
  readonly kind: 'allowed'
  readonly principal: Principal | undefined
  readonly scheme: DecisionScheme | undefined
  /** See Authentication. */
  readonly holdsUntil: number
  /** The identity lines of its principal, once they are written (gateway/lane/fast-lane.ts). */
  identityLines?: string
  /** For gateway/server/access-line.ts alone: the members of its caller, and the upstream in them. */
  logged?: string
  loggedUpstream?: string | undefined
}

export interface Refusal {
  readonly kind: 'refused'
  readonly code: ErrorCode
  readonly scheme: DecisionScheme | undefined
  /** No such credential can exist: a typing error, not a guess. */
  readonly isMalformed: boolean
  /** See Authentication. */
  readonly holdsUntil: number
  /** See Authentication. */
  readonly reason: string | undefined
}
