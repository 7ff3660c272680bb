/** How people sign in to the portal at an OpenID provider: `portal.oidc`. */
export interface OidcOptions {
  /** The URL of the provider, exactly as its metadata and its tokens have it. */
  readonly issuer: string
  readonly clientId: string
  /** undefined = a public client: PKCE alone proves who redeems a code. */
  readonly clientSecret: string | undefined
  /** The role of accounts that are made for people who have none; undefined = none is made. */
  readonly provision: string | undefined
  readonly scopes: readonly string[]
  /** The name of the provider, as its users know it. */
  readonly label: string
  /** Whether people may also sign in by password. */
  readonly acceptsPasswords: boolean
  readonly claims: ClaimNames
}

/** The names of the claims that are read. */
export interface ClaimNames {
  readonly email: string
  readonly emailVerified: string
  readonly firstName: string
  readonly lastName: string
}
