import type { Access, SchemeName } from '../routes/route.ts'
import type { Decision } from './decision.ts'

/** What a request shows of who is calling. `other`: by a scheme that is none of ours, such as Basic. */
export type Credentials = { readonly kind: 'none' | 'other' | 'ambiguous' } | Credential

/** Requests whose fields are the same share one. */
export interface Credential {
  readonly kind: SchemeName
  /** The key or token, as it came; a token that is not well-formed is empty. */
  readonly text: string
  /** What was decided about it last. */
  recent: RecentDecision | undefined
  /** The client address from which its use was noted last, and until when that will do (see performance.now()). */
  notedFrom: string | undefined
  notedUntil: number
}

export interface RecentDecision {
  readonly access: Access
  readonly decision: Decision
  /** Of the directory by then. */
  readonly version: object
  /** In ms since the epoch. */
  readonly until: number
}

const other: Credentials = { kind: 'other' }
const ambiguous: Credentials = { kind: 'ambiguous' }
/** Of a request without any. */
export const noCredentials: Credentials = { kind: 'none' }

const bearerToken = /^Bearer +([^ ]+) *$/i
const usualPrefix = 'Bearer '
/** What goes on as the name of a scheme goes on is another one (RFC 9110 5.6.2); the rest means a bearer, however badly. */
const bearerPrefix = /^Bearer(?![!#$%&'*+.^_`|~0-9A-Za-z-])/i

/** Adds the value of a SecretKey. Two credentials are none: which of them counts is not for us to guess. */
export function withSecretKey(before: Credentials, value: string): Credentials {
  return before.kind === 'none' ? newCredential('secretKey', value) : ambiguous
}

/** Adds the value of an Authorization, be it of another scheme. */
export function withAuthorization(before: Credentials, value: string): Credentials {
  if (before.kind !== 'none') return ambiguous
  const token = tokenOf(value)
  return token === undefined ? other : newCredential('bearer', token)
}

function newCredential(kind: SchemeName, text: string): Credential {
  return { kind, text, recent: undefined, notedFrom: undefined, notedUntil: 0 }
}

/** Of a bearer, be it empty where it is not well-formed; undefined = of another scheme. */
function tokenOf(authorization: string): string | undefined {
  // As nearly all write it: patterns cost as much as the rest of a decision.
  if (authorization.startsWith(usualPrefix)) {
    const token = authorization.slice(usualPrefix.length)
    if (token !== '' && !token.includes(' ')) return token
  }
  return bearerPrefix.test(authorization) ? (bearerToken.exec(authorization)?.[1] ?? '') : undefined
}
