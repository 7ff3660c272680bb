/** The JWS algorithms (RFC 7518, RFC 8037) that tokens of issuers may be signed with: none of them is symmetric. */
export const issuerAlgorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
] as const

export type IssuerAlgorithm = (typeof issuerAlgorithms)[number]

/** `at+jwt`: only tokens that call themselves access tokens (RFC 9068 2.1). `any`: also `JWT`, or none. */
export const tokenTypes = ['any', 'at+jwt'] as const

export type TokenType = (typeof tokenTypes)[number]

/** The name of a claim, or the names that lead to a member of one: `['realm_access', 'roles']`. */
export type ClaimPath = readonly string[]

/** A claim that a token must have, with one of these values. */
export type RequiredClaim = readonly [name: string, values: readonly string[]]

/** A foreign server whose tokens are accepted on the routes that name it. */
export interface IssuerOptions {
  /** Unique: the first part of the IDs of its principals. */
  readonly name: string
  /** The value of `iss`, exactly. */
  readonly issuer: string
  /** What `aud` may be or contain; empty = it is not looked at: then `require` names a claim. */
  readonly audiences: readonly string[]
  /** What its tokens must say besides. */
  readonly require: readonly RequiredClaim[]
  readonly algorithms: readonly IssuerAlgorithm[]
  /** Which `typ` its tokens may have. */
  readonly tokenType: TokenType
  readonly keys: KeySource
  readonly subject: ClaimPath
  readonly role: RoleMapping
  /** undefined = scopes are not read, and its tokens have none. */
  readonly scopes: ClaimPath | undefined
  /** undefined = no e-mail is read. */
  readonly email: ClaimPath | undefined
  /** The plan of each of its users; undefined = none. */
  readonly plan: string | undefined
}

/** Where its public keys come from. */
export type KeySource =
  | { readonly kind: 'discovery' }
  | { readonly kind: 'url'; readonly url: string }
  /** The contents of the file. */
  | { readonly kind: 'file'; readonly text: string }

export interface RoleMapping {
  /** undefined = everybody has the default role. */
  readonly claim: ClaimPath | undefined
  /** Roles by value of the claim: the first that a token has counts. */
  readonly map: readonly (readonly [value: string, role: string])[]
  readonly default: string
}

/** The value at a path of claims; undefined where there is none. */
export function claimAt(payload: Readonly<Record<string, unknown>>, path: ClaimPath): unknown {
  let value: unknown = payload
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    // The cast is sound: it has a member of that name.
    value = (value as Readonly<Record<string, unknown>>)[name]
  }
  return value
}
