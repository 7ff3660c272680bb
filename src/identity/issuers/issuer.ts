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

/** `at+jwt`: only tokens that declare themselves access tokens (RFC 9068 2.1). `any`: also `JWT`, or no type. */
export const tokenTypes = ['any', 'at+jwt'] as const

export type TokenType = (typeof tokenTypes)[number]

/** The name of a claim, or the path to a member within one: `['realm_access', 'roles']`. */
export type ClaimPath = readonly string[]

/** A claim that a token must have, with one of these values. */
type RequiredClaim = readonly [name: string, values: readonly string[]]

/** A foreign server whose tokens are accepted on the routes that name it. */
export interface IssuerOptions {
  /** Unique: the first part of the IDs of its principals. */
  readonly name: string
  /** The value of `iss`, exactly. */
  readonly issuer: string
  /** What `aud` may be or contain; empty = it is not checked, and `require` names a claim instead. */
  readonly audiences: readonly string[]
  /** Claims that its tokens must have in addition. */
  readonly require: readonly RequiredClaim[]
  readonly algorithms: readonly IssuerAlgorithm[]
  /** Which `typ` its tokens may have. */
  readonly tokenType: TokenType
  readonly keys: KeySetSource
  /** Where it is asked about tokens: all of them if it has no keys, else those that are no JWTs; undefined = never. */
  readonly introspection?: IntrospectionEndpoint | undefined
  readonly subject: ClaimPath
  readonly role: RoleMapping
  /** undefined = scopes are not read, and its tokens have none. */
  readonly scopes: ClaimPath | undefined
  /** undefined = no e-mail is read. */
  readonly email: ClaimPath | undefined
  /** The plan of each of its users; undefined = none. */
  readonly plan: string | undefined
  /** The client that the gateway gives to clients that cannot register at the issuer; undefined = it registers none. */
  readonly registration?: RegisteredClient | undefined
}

/** Where its public keys come from. */
export type KeySetSource =
  | { readonly kind: 'discovery' }
  | { readonly kind: 'url'; readonly url: string }
  /** The contents of the file. */
  | { readonly kind: 'file'; readonly text: string }
  /** No keys: the issuer is asked about each token (`introspection`). */
  | { readonly kind: 'none' }

/** The introspection endpoint of an issuer (RFC 7662), and the client that asks. */
export interface IntrospectionEndpoint {
  readonly url: string
  readonly clientId: string
  readonly clientSecret: string
}

/** The client that an operator has registered at an issuer, for all clients that cannot register there themselves. */
export interface RegisteredClient {
  /** A public client has no secret. */
  readonly clientId: string
  /** Where its users may be sent back to: see redirect-uris.ts. */
  readonly redirectUris: readonly string[]
}

export interface RoleMapping {
  /** undefined = everybody has the default role. */
  readonly claim: ClaimPath | undefined
  /** Roles by value of the claim: the first value that a token has counts. */
  readonly map: readonly (readonly [value: string, role: string])[]
  readonly default: string
}

/** The value at a path of claims; undefined where there is none. */
export function claimAt(payload: Readonly<Record<string, unknown>>, path: ClaimPath): unknown {
  let value: unknown = payload
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    // The cast is sound: the member exists.
    value = (value as Readonly<Record<string, unknown>>)[name]
  }
  return value
}

/** Matches any text within a value. */
export const anyText = '*'

/** The first required claim that a token lacks, or has without any of the values; undefined = it has them all. */
export function findMissingClaim(
  payload: Readonly<Record<string, unknown>>,
  required: readonly RequiredClaim[],
): string | undefined {
  return required.find(([name, values]) => !hasOneOf(claimAt(payload, [name]), values))?.[0]
}

/** Whether a text, a number, a boolean, or one of a list, is one of the values. */
function hasOneOf(claim: unknown, values: readonly string[]): boolean {
  const texts = (Array.isArray(claim) ? claim : [claim]).filter(isPlain).map(String)
  return texts.some((text) => values.some((value) => matches(text, value)))
}

function isPlain(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}

/**
 * Case-sensitive. Each part between asterisks is searched for once, as its first occurrence is as good as any other.
 */
function matches(text: string, value: string): boolean {
  const [start = '', ...others] = value.split(anyText)
  const end = others.pop()
  if (end === undefined) return text === value
  if (!text.startsWith(start)) return false
  let position = start.length
  for (const part of others) {
    const found = text.indexOf(part, position)
    if (found === -1) return false
    position = found + part.length
  }
  return text.length - end.length >= position && text.endsWith(end)
}

/** No issuer has a longer URL: anything longer is not examined. */
const issLengthMax = 2_048

/** A spelling that is the same for all URLs that differ only in case, a default port and slashes at the end. */
export function plainSpelling(issuer: string): string {
  if (issuer.length > issLengthMax) return issuer
  return withoutSlashes(URL.parse(issuer)?.href ?? issuer).toLowerCase()
}

/**
 * How the `iss` of a token differs from the issuer's URL that it stands for.
 * @param iss with the same plain spelling
 */
export function spellingDifference(iss: string, configured: string): string {
  if (withoutSlashes(iss) !== withoutSlashes(configured)) return 'iss is another spelling of its URL'
  return `iss ends with ${iss.length > configured.length ? 'more' : 'fewer'} slashes than in the config`
}

function withoutSlashes(text: string): string {
  let end = text.length
  while (text[end - 1] === '/') end--
  return text.slice(0, end)
}

/** Whether a response from a URL cannot be changed on the way: https, or this machine. */
export function isSecureUrl(text: string): boolean {
  const url = URL.parse(text)
  if (!url || url.username || url.password) return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && loopbackHost.test(url.hostname))
}

const loopbackHost = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/
