import type { Access, SchemeName } from '../routes/route.ts'
import type { Decision } from './decision.ts'

/** The credentials of a request. `other`: of a scheme that is not ours, such as Basic. */
export type Credentials = { readonly kind: 'none' | 'other' | 'ambiguous' } | Credential

/** Requests with the same fields share one object. */
export interface Credential {
  readonly kind: SchemeName
  /** The key or token as it came; empty where a token is not well-formed. */
  readonly text: string
  /** The last decision about it. */
  recent: RecentDecision | undefined
  /** The client address of the last noted use, and until when no other is noted (on the clock of performance.now()). */
  useRecordedFrom: string | undefined
  useRecordedUntil: number
}

export interface RecentDecision {
  readonly access: Access
  readonly decision: Decision
  /** The version of the directory at the decision. */
  readonly version: object
  /** Until when it is not looked at again, on the clock of performance.now(). */
  readonly until: number
}

const other: Credentials = { kind: 'other' }
const ambiguous: Credentials = { kind: 'ambiguous' }
/** The credentials of a request that has none. */
export const noCredentials: Credentials = { kind: 'none' }

const bearerToken = /^Bearer +([^ ]+) *$/i
const usualPrefix = 'Bearer '
/** `Bearer` before a token character is another scheme (RFC 9110 5.6.2); else it is a bearer, even if malformed. */
const bearerPrefix = /^Bearer(?![!#$%&'*+.^_`|~0-9A-Za-z-])/i

/** Adds the value of a SecretKey. Two credentials are refused: which of them counts is not for us to guess. */
export function withSecretKey(before: Credentials, value: string): Credentials {
  return before.kind === 'none' ? newCredential('secretKey', value) : ambiguous
}

/** Adds the value of an Authorization, which may be of another scheme. */
export function withAuthorization(before: Credentials, value: string): Credentials {
  if (before.kind !== 'none') return ambiguous
  const token = tokenOf(value)
  return token === undefined ? other : newCredential('bearer', token)
}

function newCredential(kind: SchemeName, text: string): Credential {
  return { kind, text, recent: undefined, useRecordedFrom: undefined, useRecordedUntil: 0 }
}

/** The token of a bearer, empty where it is not well-formed; undefined = another scheme. */
function tokenOf(authorization: string): string | undefined {
  // Nearly all clients write it like this; a regular expression costs as much as the rest of a decision.
  if (authorization.startsWith(usualPrefix)) {
    const token = authorization.slice(usualPrefix.length)
    if (token !== '' && !token.includes(' ')) return token
  }
  return bearerPrefix.test(authorization) ? (bearerToken.exec(authorization)?.[1] ?? '') : undefined
}
