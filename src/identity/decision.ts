import type { ErrorCode } from '#platform/errors/codes.ts'
import type { SchemeName } from './access.ts'
import type { Confirmation } from './possession/confirmation.ts'
import type { Principal } from './principal.ts'

/** What authenticated, or was refused, for logs and metrics: `cookie` = the access cookie, by the rules of a token. */
export type DecisionScheme = SchemeName | 'cookie'

/** Whether a request is admitted: as a principal, anonymously, or not, with the reason. */
export type Decision = AllowedDecision | Refusal

export interface AllowedDecision {
  readonly kind: 'allowed'
  readonly principal: Principal | undefined
  readonly scheme: DecisionScheme | undefined
  /** See Authentication: whoever acts on the decision has to see it proven first. Such a decision is never reused. */
  readonly confirmation: Confirmation | undefined
  /** See Authentication. */
  readonly holdsUntil: number
  /** The identity lines of its principal, and the writer that made them (gateway/lane/fast-lane.ts). */
  identityLines?: string
  identityWriter?: (principal: Principal) => string
  /** Only for gateway/server/access-line.ts: the members for its caller, and the upstream in them. */
  logged?: string
  loggedUpstream?: string | undefined
}

export interface Refusal {
  readonly kind: 'refused'
  readonly code: ErrorCode
  readonly scheme: DecisionScheme | undefined
  /** No such credential can exist: a typing error rather than a guess. */
  readonly isMalformed: boolean
  /** See Authentication. */
  readonly isCounted?: boolean | undefined
  /** See Authentication. */
  readonly holdsUntil: number
  /** See Authentication. */
  readonly reason: string | undefined
}

/**
 * A scheme's verdict on a credential; the caller handles a missing one. `holdsUntil`: until then, in milliseconds since
 * 1970, the verdict only changes with an account, a session or a signing key; 0 = it must not be reused.
 */
export type Authentication =
  | {
      readonly kind: 'authenticated'
      readonly principal: Principal
      /** What the sender has to prove besides; undefined = nothing. */
      readonly confirmation?: Confirmation | undefined
      readonly holdsUntil: number
    }
  | {
      readonly kind: 'rejected'
      readonly code: ErrorCode
      /** No such credential can exist, which is known without asking the store. */
      readonly isMalformed: boolean
      /** Whether a token may be a guess that somebody was asked about, as a wrong key is in any case. */
      readonly isCounted?: boolean | undefined
      readonly holdsUntil: number
      /** The reason for the log, if it adds something to the code. */
      readonly reason: string | undefined
    }

/** Verifies one kind of credential. Synchronous if possible; throws or rejects only if it cannot be decided. */
export interface Scheme {
  readonly name: SchemeName
  authenticate(credential: string): Authentication | Promise<Authentication>
  /** The same for a key that is known by its digest alone: the certificate of a client. */
  readonly authenticateDigest?: (digest: Uint8Array) => Authentication | Promise<Authentication>
  /** Whether the store has to be asked about a credential whose form does not prove that it is one. */
  readonly mustLookUp?: (credential: string) => boolean
}

type RejectedOptions = Partial<Omit<Extract<Authentication, { readonly kind: 'rejected' }>, 'kind' | 'code'>>

export function rejected(
  code: ErrorCode,
  { isMalformed = false, isCounted, holdsUntil = 0, reason }: RejectedOptions = {},
): Authentication {
  return { kind: 'rejected', code, isMalformed, isCounted, holdsUntil, reason }
}
