import { roleEpochOf } from './token-id.ts'

/** The claims of an access token (RFC 9068, without the optional ones). Times are in milliseconds. */
export interface AccessTokenClaims {
  readonly accountId: string
  readonly sessionId: string
  readonly role: string
  /** Counts the roles that the account has had, from 1; part of `jti`. */
  readonly roleEpoch: number
  readonly issuedAt: number
  /** From the later of `iat` and `nbf` up to `exp`, with the clock tolerance on both sides. */
  readonly validFrom: number
  readonly validUntil: number
}

/** The claims that every access token of ours must have. */
export interface ExpectedClaims {
  readonly issuer: string
  readonly audience: string
  readonly clockToleranceMs: number
}

/** @returns undefined where a claim is missing or wrong; times are not compared with the clock */
export function parseClaims(
  payload: Readonly<Record<string, unknown>>,
  expected: ExpectedClaims,
): AccessTokenClaims | undefined {
  const { iss, aud, sub, sid, role, iat, nbf = iat, exp, jti } = payload
  if (iss !== expected.issuer || !includesAudience(aud, expected.audience)) return undefined
  if (
    typeof sub !== 'string' ||
    typeof sid !== 'string' ||
    typeof role !== 'string' ||
    typeof jti !== 'string'
  ) {
    return undefined
  }
  if (!isTime(iat) || !isTime(nbf) || !isTime(exp)) return undefined
  const validFrom = Math.max(iat, nbf) * 1_000 - expected.clockToleranceMs
  const validUntil = exp * 1_000 + expected.clockToleranceMs
  const roleEpoch = roleEpochOf(jti)
  return { accountId: sub, sessionId: sid, role, roleEpoch, issuedAt: iat * 1_000, validFrom, validUntil }
}

export function includesAudience(aud: unknown, audience: string): boolean {
  return Array.isArray(aud) ? aud.includes(audience) : aud === audience
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0
}
