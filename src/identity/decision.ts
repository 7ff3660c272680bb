import type { ErrorCode } from '#platform/errors/codes.ts'
import { isRecord } from '#platform/json.ts'
import type { EpochMs } from '#platform/time.ts'
import type { Quota } from '#store/quotas.ts'
import type { SchemeName } from './access.ts'

/**
 * The kind of credential that was accepted or refused, for logs and metrics. `cookie`: a token in the access cookie.
 */
export type DecisionScheme = SchemeName | 'cookie'

/** Whether a request is admitted: as a principal, anonymously, or not, with the reason. */
export type Decision = AllowedDecision | Refusal

export interface AllowedDecision {
  readonly kind: 'allowed'
  readonly principal: Principal | undefined
  readonly scheme: DecisionScheme | undefined
  /** What the sender has to prove before anything is done; such a decision is never reused. undefined = nothing. */
  readonly confirmation: Confirmation | undefined
  readonly holdsUntil: HoldsUntil
  /**
   * Texts that were written for the caller, kept for its next request (gateway/arrival/caller-texts.ts); this room does
   * not look into it.
   */
  kept: object | undefined
}

export interface Refusal extends RefusedCredential {
  readonly scheme: DecisionScheme | undefined
}

/**
 * Until this time only a change of an account, a session or a signing key can change the verdict; 0 = it must not be
 * reused.
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
  /** Whether no such credential can exist, which needs no store: a typing error rather than a guess. */
  readonly isMalformed: boolean
  /**
   * Whether it counts as a failed attempt: the issuer did not know the token, or was not asked because the client has
   * failed too often. (Wrong secret keys always count.)
   */
  readonly isCounted?: boolean | undefined
  readonly holdsUntil: HoldsUntil
  /** The reason for the log, if it adds something to the code. */
  readonly reason: string | undefined
}

/** What the token itself shows, before its session or its subject is looked up. */
export type TokenVerdict<Claims> =
  | { readonly kind: 'valid'; readonly claims: Claims }
  | { readonly kind: 'expired' }
  | {
      readonly kind: 'invalid'
      /** In words for the log. */
      readonly reason: string
      /** Whether only another set of keys could make the token valid, so that the verdict may be cached. */
      readonly isCacheable: boolean
      /** Whether it counts as a failed attempt: the issuer was asked and did not know the token. */
      readonly isCounted?: boolean
    }

/** Verifies one kind of credential. Synchronous if possible; throws or rejects only if it cannot be decided. */
export interface Scheme {
  authenticate(credential: string): Authentication | Promise<Authentication>
  /** The same for a key that is known by its digest alone: the certificate of a client. */
  readonly authenticateDigest?: (digest: Uint8Array) => Authentication | Promise<Authentication>
  /** Whether the store has to be asked about a credential whose form does not prove that it is one. */
  readonly mustLookUp?: (credential: string) => boolean
}

/** An authenticated caller. */
export interface Principal {
  /** The account's ID, or that of a principal of a foreign issuer (`principalId`). */
  readonly accountId: string
  readonly role: string
  readonly scheme: SchemeName
  /** Only with a bearer token. */
  readonly sessionId: string | undefined
  /** The name of the secret key that was sent, or that started the session; undefined if the store is unreachable. */
  readonly key: string | undefined
  /** What the key or token is limited to; empty = it is not limited. */
  readonly scopes: readonly string[]
  /** The addresses and ranges from which a secret key is accepted; empty = anywhere. */
  readonly addresses: readonly string[]
  /** The plan of the account, or of the users of the issuer; undefined = none, or the store is unreachable. */
  readonly plan: string | undefined
  /** The quota of the key, which its tokens count against too; undefined = none, or the store is unreachable. */
  readonly quota: CountedQuota | undefined
  /** undefined if the store is unreachable: then only the token's claims are known. */
  readonly profile: Profile | undefined
  /**
   * The name of the foreign issuer of the token; undefined = the principal is an account. Otherwise its ID comes from
   * `principalId`, and its profile from the token.
   */
  readonly issuer: string | undefined
}

/** The quota of a secret key, with what it is counted by. */
export interface CountedQuota extends Quota {
  readonly subject: string
}

/** What our access tokens do not contain. */
export interface Profile {
  /** undefined = the foreign issuer does not provide it. */
  readonly email: string | undefined
  readonly firstName: string
  readonly lastName: string
  readonly isVerified: boolean
}

/** What the sender of a token has to prove: the claim `cnf` (RFC 7800). If both members are there, both. */
export interface Confirmation {
  /**
   * Thumbprint of the private key that the client must have (RFC 9449 6.1), as base64url; undefined = none is needed.
   */
  readonly jkt: string | undefined
  /** SHA-256 of the certificate that the client must have (RFC 8705 3.1), as base64url; undefined = none is needed. */
  readonly certificate: string | undefined
}

type RefusedOptions = Partial<Omit<RefusedCredential, 'kind' | 'code'>>

export function refusedCredential(
  code: ErrorCode,
  { isMalformed = false, isCounted, holdsUntil = 0, reason }: RefusedOptions = {},
): RefusedCredential {
  return { kind: 'refused', code, isMalformed, isCounted, holdsUntil, reason }
}

const expired = refusedCredential('token-expired')

export function refusedToken(
  verdict: Exclude<TokenVerdict<never>, { readonly kind: 'valid' }>,
): RefusedCredential {
  if (verdict.kind === 'expired') return expired
  const { isCacheable, isCounted, reason } = verdict
  const holdsUntil = isCacheable ? Number.POSITIVE_INFINITY : 0
  return refusedCredential('token-invalid', { holdsUntil, isCounted, reason })
}

const thumbprint = /^[0-9A-Za-z_-]{43}$/

/**
 * Reads the claim `cnf`.
 * @returns undefined if there is none, so that whoever has the token may use it; `unsupported` if it demands a proof
 *   that the gateway cannot check
 */
export function parseConfirmation(cnf: unknown): Confirmation | undefined | 'unsupported' {
  if (cnf === undefined) return undefined
  if (!isRecord(cnf)) return 'unsupported'
  const { jkt, 'x5t#S256': certificate, ...others } = cnf
  const isKnown = isThumbprint(jkt) && isThumbprint(certificate) && Object.keys(others).length === 0
  return isKnown && (jkt ?? certificate) !== undefined ? { jkt, certificate } : 'unsupported'
}

function isThumbprint(value: unknown): value is string | undefined {
  return value === undefined || (typeof value === 'string' && thumbprint.test(value))
}
