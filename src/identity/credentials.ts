import { schemePrefix } from '#platform/http.ts'
import { isForeignBearerKey, looksLikeKey } from '#platform/secrets/key-format.ts'
import type { MonotonicMs } from '#platform/time.ts'
import type { Access, SchemeName } from './access.ts'
import {
  accessCookieCarrier,
  basicCarrier,
  bearerCarrier,
  type Carrier,
  type Carriers,
  certificateCarrier,
  passwordOf,
  proofCarrier,
} from './carriers.ts'
import { type Decision, parseConfirmation } from './decision.ts'
import { payloadOf } from './tokens/jwt.ts'

/**
 * The credentials of a request. `other`: only an Authorization of a scheme that belongs to the backend, such as AWS4.
 */
export type Credentials = { readonly kind: 'none' | 'other' | 'ambiguous' } | Credential

/** A credential with its last decision. Requests with the same fields share one object. */
export interface Credential {
  readonly kind: SchemeName
  /**
   * The last decision. Hot: it and the fields below are on this object, as each further object is another load per
   * request.
   */
  recent: Decision | undefined
  /** The access that the last decision was for. */
  recentAccess: Access | undefined
  /** The version of the directory at the last decision. */
  recentVersion: object | undefined
  /** Until when the last decision is reused, in whole milliseconds. */
  recentUntil: MonotonicMs
  /** Until when the last decision holds at most, in whole seconds since the authenticator's start. */
  recentEnd: number
  /** Client address of the last recorded use, and until when no other is recorded. */
  useRecordedFrom: string | undefined
  useRecordedUntil: MonotonicMs
  /** The key or token as received; empty if a token is malformed or a password cannot be read. */
  readonly text: string
  /** Where a secret key came from; for a token `cookie`, `dpop`, or undefined = `Authorization: Bearer`. */
  readonly carrier: Carrier | undefined
}

const other: Credentials = { kind: 'other' }
/** Several credentials: the backend might read another one than the gateway. */
export const ambiguousCredentials: Credentials = { kind: 'ambiguous' }
/** The credentials of a request without any. */
export const noCredentials: Credentials = { kind: 'none' }

const bearerToken = /^Bearer +([^ ]+) *$/i
const usualPrefix = 'Bearer '
/** Whatever follows the scheme is a bearer token, even if malformed. */
const bearerPrefix = schemePrefix('Bearer')
const proofPrefix = schemePrefix('DPoP')
const proofToken = /^DPoP +([^ ]+) *$/i

/** Adds the value of a header field that carries a secret key. Two credentials are ambiguous, and are refused. */
export function withSecretKey(before: Credentials, value: string, carrier: Carrier): Credentials {
  return before.kind === 'none' || before.kind === 'other'
    ? newCredential('secretKey', value, carrier)
    : ambiguousCredentials
}

/** Adds the value of the first Authorization header; next to a key, another scheme belongs to the backend. */
export function withAuthorization(before: Credentials, value: string, carriers: Carriers): Credentials {
  const credential = readAuthorization(value, carriers)
  if (before.kind === 'none') return credential ?? other
  return credential === undefined ? before : ambiguousCredentials
}

export function cookieCredential(token: string): Credentials {
  return newCredential('bearer', token, accessCookieCarrier)
}

/** Creates a credential from a client certificate that is a key. @param thumbprint SHA-256 as base64url */
export function certificateCredential(thumbprint: string): Credentials {
  return newCredential('secretKey', thumbprint, certificateCarrier)
}

/** Creates a credential from an access token that somebody asks about, and so need not prove to have its key. */
export function tokenCredential(token: string): Credentials {
  const isBound = needsProof(payloadOf(token)?.cnf)
  return newCredential('bearer', token, isBound ? proofCarrier : undefined)
}

function needsProof(cnf: unknown): boolean {
  const confirmation = parseConfirmation(cnf)
  return typeof confirmation === 'object' && confirmation.jkt !== undefined
}

export function isCredential(credentials: Credentials): credentials is Credential {
  return credentials.kind === 'secretKey' || credentials.kind === 'bearer'
}

/** Whether there is neither a bearer token nor a secret key, so that the access cookie may count. */
export function isWithoutCredential({ kind }: Credentials): boolean {
  return kind === 'none' || kind === 'other'
}

/** Whether the value of an Authorization header is a secret key, valid or not. */
export function isKeyAuthorization(value: string, carriers: Carriers): boolean {
  return readAuthorization(value, carriers)?.kind === 'secretKey'
}

/**
 * The credential in an Authorization header; undefined = its scheme is not the gateway's. If keys may be sent as bearer
 * tokens, their form distinguishes them from JWTs, including keys that were made elsewhere.
 */
function readAuthorization(value: string, { bearer, basic }: Carriers): Credential | undefined {
  const token = tokenOf(value)
  if (token !== undefined) {
    return bearer && (looksLikeKey(token) || isForeignBearerKey(token))
      ? newCredential('secretKey', token, bearerCarrier)
      : newCredential('bearer', token, undefined)
  }
  if (proofPrefix.test(value)) return newCredential('bearer', proofToken.exec(value)?.[1] ?? '', proofCarrier)
  const password = basic ? passwordOf(value) : undefined
  return password === undefined ? undefined : newCredential('secretKey', password, basicCarrier)
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

/** The bearer token, empty if it is malformed; undefined = another scheme. */
function tokenOf(authorization: string): string | undefined {
  // The usual spelling, without a regular expression (hot).
  if (authorization.startsWith(usualPrefix)) {
    const token = authorization.slice(usualPrefix.length)
    if (token !== '' && !token.includes(' ')) return token
  }
  return bearerPrefix.test(authorization) ? (bearerToken.exec(authorization)?.[1] ?? '') : undefined
}
