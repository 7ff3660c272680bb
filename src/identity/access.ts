/** A token bucket of `limit` requests, refilled over `perMs`, for each account or client address. */
export interface RateLimit {
  readonly limit: number
  readonly perMs: number
  readonly by: 'account' | 'key' | 'ip'
}

/** That of one route. */
export interface RouteRate extends RateLimit {
  /** Of `purposes`, where who is counted is as `by` says (hot). */
  readonly purpose: string
  /** See Rate. */
  recentPlace: number
  /** What is counted, for each way of counting: made once for each route, not for each request (hot). */
  readonly purposes: Readonly<Record<RateLimit['by'], string>>
}

export type SchemeName = 'secretKey' | 'bearer'

/**
 * Who may call. A protected route has at least one scheme, so an empty list cannot mean "open". `leavesAuthorization`:
 * the Authorization field is the backend's, and says nothing of the caller.
 */
export type Access = { readonly leavesAuthorization?: true } & (
  | { readonly kind: 'public' }
  | {
      readonly kind: 'protected'
      readonly schemes: readonly [SchemeName, ...SchemeName[]]
      /** Whether a request without credentials is admitted anonymously. */
      readonly isOptional: boolean
      /** undefined = any. */
      readonly roles: ReadonlySet<string> | undefined
      /** All of them are needed by a key or token with scopes; undefined = only those without scopes are admitted. */
      readonly scopes: readonly string[] | undefined
      readonly verifiedOnly: boolean
      /** Names of the foreign issuers whose tokens are accepted too; undefined = none. */
      readonly issuers: ReadonlySet<string> | undefined
      /** Where clients find out about the issuers (RFC 9728); undefined = it names none. */
      readonly metadataUrl?: string | undefined
    }
)
