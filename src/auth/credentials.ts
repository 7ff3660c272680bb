import type { Access, SchemeName } from '../routes/route.ts'
import type { Decision } from './decision.ts'

/** The credentials of a request. `other`: of another scheme, such as Basic. */
export type Credentials = { readonly kind: 'none' | 'other' | 'ambiguous' } | Credential

/** Requests with the same fields share one object. */
export interface Credential {
  readonly kind: SchemeName
  /** The key or token as received; empty where a token is malformed. */
  readonly text: string
  /** The last decision about it. */
  recent: RecentDecision | undefined
  /**
   * Client address of the last recorded use, and until when no other is recorded (on the clock of performance.now()).
   */
  useRecordedFrom: string | undefined
  useRecordedUntil: number
}

export interface RecentDecision {
  readonly access: Access
  readonly decision: Decision
  /** The version of the directory at the decision. */
  readonly version: object
  /** Until when it is reused, on the clock of performance.now(). */
  readonly until: number
}

const other: Credentials = { kind: 'other' }
const ambiguous: Credentials = { kind: 'ambiguous' }
/** The credentials of a request that has none. */
export const noCredentials: Credentials = { kind: 'none' }

const bearerToken = /^Bearer +([^ ]+) *$/i
const usualPrefix = 'Bearer '
/**
 * `Bearer` before a token character is another scheme (RFC 9110 5.6.2); else it is a bearer token, even if malformed.
 */
const bearerPrefix = /^Bearer(?![!#$%&'*+.^_`|~0-9A-Za-z-])/i

/** Adds the value of a SecretKey header. Two credentials are ambiguous, and rejected. */
export function withSecretKey(before: Credentials, value: string): Credentials {
  return before.kind === 'none' ? newCredential('secretKey', value) : ambiguous
}

/** Adds the value of an Authorization header, which may be of another scheme. */
export function withAuthorization(before: Credentials, value: string): Credentials {
  if (before.kind !== 'none') return ambiguous
  const token = tokenOf(value)
  return token === undefined ? other : newCredential('bearer', token)
}

function newCredential(kind: SchemeName, text: string): Credential {
  return { kind, text, recent: undefined, useRecordedFrom: undefined, useRecordedUntil: 0 }
}

/** The bearer token, empty where it is malformed; undefined = another scheme. */
function tokenOf(authorization: string): string | undefined {
  // The usual spelling; a regular expression costs as much as the rest of a decision.
  if (authorization.startsWith(usualPrefix)) {
    const token = authorization.slice(usualPrefix.length)
    if (token !== '' && !token.includes(' ')) return token
  }
  return bearerPrefix.test(authorization) ? (bearerToken.exec(authorization)?.[1] ?? '') : undefined
}
