import { isForeignBearerKey, looksLikeKey } from '#platform/secrets/format.ts'
import type { Access, SchemeName } from './access.ts'
import type { Decision } from './decision.ts'
import { passwordOf } from './keys/basic.ts'
import { accessCookieCarrier, type Carrier, type Carriers } from './keys/carriers.ts'

/** The credentials of a request. `other`: only an Authorization of a scheme that is the backend's, such as AWS4. */
export type Credentials = { readonly kind: 'none' | 'other' | 'ambiguous' } | Credential

/** Requests with the same fields share one object. */
export interface Credential {
  readonly kind: SchemeName
  /** The last decision about it: with what follows in this object, as each further one is loaded for each request. */
  recent: Decision | undefined
  /** What it was asked for. */
  recentAccess: Access | undefined
  /** The version of the directory at the decision. */
  recentVersion: object | undefined
  /** Until when it is reused, in whole milliseconds on the clock of performance.now(). */
  recentUntil: number
  /** The same in whole seconds, for how long it was granted: on a clock of the authenticator's. */
  recentEnd: number
  /**
   * Client address of the last recorded use, and until when no other is recorded (on the clock of performance.now()).
   */
  useRecordedFrom: string | undefined
  useRecordedUntil: number
  /** The key or token as received; empty where a token is malformed, or a password cannot be read. */
  readonly text: string
  /** Where a secret key came from, or `cookie` for a token in the access cookie; undefined for any other token. */
  readonly carrier: Carrier | undefined
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

/** Adds the value of a header field that carries a secret key. Two credentials are ambiguous, and rejected. */
export function withSecretKey(before: Credentials, value: string, carrier: Carrier): Credentials {
  return before.kind === 'none' || before.kind === 'other'
    ? newCredential('secretKey', value, carrier)
    : ambiguous
}

/** Adds the value of the first Authorization header: beside a key, another scheme is the backend's. */
export function withAuthorization(before: Credentials, value: string, carriers: Carriers): Credentials {
  const credential = readAuthorization(value, carriers)
  if (before.kind === 'none') return credential ?? other
  return credential === undefined ? before : ambiguous
}

/** Adds another Authorization header: the gateway and a backend may not read the same one of two. */
export function withRepeatedAuthorization(): Credentials {
  return ambiguous
}

/** The access token in the access cookie. */
export function cookieCredential(token: string): Credentials {
  return newCredential('bearer', token, accessCookieCarrier)
}

/** An access token that is not the credential of a request, but asked about. */
export function tokenCredential(token: string): Credentials {
  return newCredential('bearer', token, undefined)
}

/** Adds another cookie of the same name: which of two a browser sends first says nothing. */
export function withRepeatedCookie(): Credentials {
  return ambiguous
}

/** Whether the Authorization header, and the places of secret keys, are free: then the access cookie may count. */
export function isWithoutCredential({ kind }: Credentials): boolean {
  return kind === 'none' || kind === 'other'
}

/** Whether the value of an Authorization header is a secret key, valid or not. */
export function isKeyAuthorization(value: string, carriers: Carriers): boolean {
  return readAuthorization(value, carriers)?.kind === 'secretKey'
}

/**
 * The credential in an Authorization header; undefined = it is of a scheme that is not the gateway's. Where keys may
 * come as bearer tokens, their form tells them from JWTs, also those that were made elsewhere.
 */
function readAuthorization(value: string, { bearer, basic }: Carriers): Credential | undefined {
  const token = tokenOf(value)
  if (token !== undefined) {
    return bearer && (looksLikeKey(token) || isForeignBearerKey(token))
      ? newCredential('secretKey', token, 'bearer')
      : newCredential('bearer', token, undefined)
  }
  const password = basic ? passwordOf(value) : undefined
  return password === undefined ? undefined : newCredential('secretKey', password, 'basic')
}

function newCredential(kind: SchemeName, text: string, carrier: Carrier | undefined): Credential {
  return {
    kind,
    recent: undefined,
    recentAccess: undefined,
    recentVersion: undefined,
    recentUntil: 0,
    recentEnd: 0,
    useRecordedFrom: undefined,
    useRecordedUntil: 0,
    text,
    carrier,
  }
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
