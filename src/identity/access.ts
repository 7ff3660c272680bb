import type { HintedRate } from '#store/local-rates.ts'
import type { Rate, RatePurpose } from '#store/rates.ts'

/** A token bucket of `limit` requests, refilled over `perMs`, for each account or client address. */
export interface RateLimit extends Rate {
  readonly by: 'account' | 'key' | 'ip'
}

export interface RouteRate extends RateLimit, Required<HintedRate> {
  /** `purposes[by]`: for all callers that need not be counted by something else (see `countedBy`). */
  readonly purpose: RatePurpose
  /** The purpose for each `by`. Both are precomputed, as each request reads one. */
  readonly purposes: Readonly<Record<RateLimit['by'], RatePurpose>>
}

export type SchemeName = 'secretKey' | 'bearer'

/** Who may call. */
export type Access = PublicAccess | ProtectedAccess

interface SharedAccess {
  /** Whether the Authorization field belongs to the backend, and does not identify the caller. */
  readonly leavesAuthorization: boolean
}

interface PublicAccess extends SharedAccess {
  readonly kind: 'public'
}

/** At least one scheme, so that an empty list cannot mean "open". */
export interface ProtectedAccess extends SharedAccess {
  readonly kind: 'protected'
  readonly schemes: readonly [SchemeName, ...SchemeName[]]
  /** Whether a request without credentials is admitted anonymously. */
  readonly isOptional: boolean
  /** undefined = any. */
  readonly roles: ReadonlySet<string> | undefined
  /** A key or token with scopes needs all of these; undefined = only those without scopes are admitted. */
  readonly scopes: readonly string[] | undefined
  readonly verifiedOnly: boolean
  /** Names of the foreign issuers whose tokens are accepted too; undefined = none. */
  readonly issuers: ReadonlySet<string> | undefined
  /** Where clients learn about the issuers (RFC 9728); undefined = there is no such document. */
  readonly metadataUrl?: string | undefined
}
