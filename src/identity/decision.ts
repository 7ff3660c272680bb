import type { ErrorCode } from '#platform/errors/codes.ts'
import type { EpochMs } from '#platform/time.ts'
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
  /** Whoever acts on the decision has to see this proven first; such a decision is never reused. undefined = nothing. */
  readonly confirmation: Confirmation | undefined
  readonly holdsUntil: HoldsUntil
  /** What whoever acts on the decision keeps for the next time: nobody else reads it. */
  kept: object | undefined
}

export interface Refusal extends RefusedCredential {
  readonly scheme: DecisionScheme | undefined
}

/**
 * Until when a verdict changes only with an account, a session or a signing key; 0 = it must not be reused.
 */
type HoldsUntil = EpochMs

/** A scheme's verdict on a credential; the caller handles a missing one. */
export type Authentication =
  | {
      readonly kind: 'authenticated'
      readonly principal: Principal
      /** What the sender has to prove besides; undefined = nothing. */
      readonly confirmation?: Confirmation | undefined
      readonly holdsUntil: HoldsUntil
    }
  | RefusedCredential

interface RefusedCredential {
  readonly kind: 'refused'
  readonly code: ErrorCode
  /** No such credential can exist, which is known without asking the store: a typing error rather than a guess. */
  readonly isMalformed: boolean
  /** Whether a token may be a guess that somebody was asked about, as a wrong key is in any case. */
  readonly isCounted?: boolean | undefined
  readonly holdsUntil: HoldsUntil
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

type RefusedOptions = Partial<Omit<RefusedCredential, 'kind' | 'code'>>

export function refusedCredential(
  code: ErrorCode,
  { isMalformed = false, isCounted, holdsUntil = 0, reason }: RefusedOptions = {},
): RefusedCredential {
  return { kind: 'refused', code, isMalformed, isCounted, holdsUntil, reason }
}
