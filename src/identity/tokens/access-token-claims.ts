import { randomUUID } from 'node:crypto'
import type { EpochMs } from '#platform/time.ts'
import { unlimited } from '#store/secret-keys.ts'
import { claimsBytes } from '../cache/bounded-caches.ts'
import { type Confirmation, parseConfirmation } from '../decision.ts'
import { payloadOf } from './jwt.ts'

/** The claims of an access token (RFC 9068, without the optional ones). Times are in milliseconds. */
export interface AccessTokenClaims {
  readonly accountId: string
  readonly sessionId: string
  readonly role: string
  /** `scope` (RFC 9068 2.2.3): what its key is limited to; empty = it is not limited. */
  readonly scopes: readonly string[]
  /** What whoever sends it has to prove; undefined = nothing. */
  readonly confirmation: Confirmation | undefined
  /** Counts the roles that the account has had, from 1; part of `jti`. */
  readonly roleEpoch: number
  readonly issuedAt: EpochMs
  /** From the later of `iat` and `nbf` up to `exp`, with the clock tolerance on both sides. */
  readonly validFrom: EpochMs
  readonly validUntil: EpochMs
}

/** The claims that every access token of ours must contain. */
export interface ExpectedClaims {
  readonly issuer: string
  readonly audience: string
  readonly clockToleranceMs: number
}

/** The epoch of an account whose role has never changed, and of a token that contains none. */
const firstRoleEpoch = 1
/** Hexadecimal digits of the epoch: 48 bits, the first two groups of a UUID. */
const epochDigits = 12
const tokenIdPattern = /^([0-9a-f]{8})-([0-9a-f]{4})-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

/** @returns undefined where a claim is missing or wrong; times are not compared with the clock */
export function parseClaims(
  payload: Readonly<Record<string, unknown>>,
  expected: ExpectedClaims,
): AccessTokenClaims | undefined {
  const { iss, aud, sub, sid, role, iat, nbf = iat, exp, jti, scope = '', cnf } = payload
  if (iss !== expected.issuer || !includesAudience(aud, expected.audience)) return undefined
  if (
    typeof sub !== 'string' ||
    typeof sid !== 'string' ||
    typeof role !== 'string' ||
    typeof jti !== 'string' ||
    typeof scope !== 'string'
  ) {
    return undefined
  }
  if (!isTime(iat) || !isTime(nbf) || !isTime(exp)) return undefined
  const confirmation = parseConfirmation(cnf)
  if (confirmation === 'unsupported') return undefined
  const validFrom = Math.max(iat, nbf) * 1_000 - expected.clockToleranceMs
  const validUntil = exp * 1_000 + expected.clockToleranceMs
  const roleEpoch = roleEpochOf(jti)
  const scopes = scope === '' ? unlimited : scope.split(' ')
  const issuedAt = iat * 1_000
  const issued = { accountId: sub, sessionId: sid, role, scopes, roleEpoch, issuedAt }
  return { ...issued, confirmation, validFrom, validUntil }
}

/** About how many bytes of memory they take. */
export function accessTokenClaimsBytes({ accountId, sessionId, role, ...limits }: AccessTokenClaims): number {
  return claimsBytes({ texts: [accountId, sessionId, role], ...limits })
}

/**
 * The `jti` of an access token: a UUID of version 8 (RFC 9562 5.8), random except for its first 48 bits, the epoch of
 * the token's role. `iat` cannot show whether the token was issued before or after a change, as it is in whole seconds
 * and on another clock.
 */
export function createTokenId(roleEpoch: number): string {
  const epoch = roleEpoch.toString(16).padStart(epochDigits, '0')
  // The rest, without the epoch and the version.
  return `${epoch.slice(0, 8)}-${epoch.slice(8)}-8${randomUUID().slice(15)}`
}

/** The epoch in a `jti`; 1 if there is none: the token predates epochs, or is from another issuer with the same key. */
function roleEpochOf(tokenId: string): number {
  const [, high, low] = tokenIdPattern.exec(tokenId) ?? []
  return high === undefined || low === undefined ? firstRoleEpoch : Number.parseInt(high + low, 16)
}

export function includesAudience(aud: unknown, audience: string): boolean {
  return Array.isArray(aud) ? aud.includes(audience) : aud === audience
}

/** Whether it may be the time in a claim: seconds since 1970. */
export function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0
}

/** The epoch of the role in a verified token. */
export function roleEpochIn(token: string): number {
  const jti = payloadOf(token)?.jti
  return roleEpochOf(typeof jti === 'string' ? jti : '')
}
