import {
  type AccessTokenClaims,
  type ExpectedClaims,
  includesAudience,
  parseClaims,
} from './access-token-claims.ts'
import type { SigningKey } from './signing-keys.ts'
import { accessTokenType, headerOf, isCanonical, payloadOf, signingKeyIdOf } from './token-text.ts'

/** Why a token is invalid, for the log; the signature is not verified again. */
export function invalidReason(token: string, key: SigningKey | undefined, expected: ExpectedClaims): string {
  const [header, payload] = [headerOf(token), payloadOf(token)]
  if (!header || !payload || !isCanonical(token)) return 'malformed'
  if (signingKeyIdOf(token) === undefined)
    return header.typ === accessTokenType ? 'no kid, or crit' : 'wrong typ'
  if (!key) return 'unknown kid'
  if (header.alg !== key.material.algorithm) return 'wrong alg'
  if (payload.iss !== expected.issuer) return 'wrong iss'
  if (!includesAudience(payload.aud, expected.audience)) return 'wrong aud'
  return parseClaims(payload, expected) ? 'bad signature' : 'a claim is missing or wrong'
}

/** The same for a token that is not valid yet. */
export function notYetValidReason(
  { issuedAt, validFrom }: AccessTokenClaims,
  { clockToleranceMs }: ExpectedClaims,
  now: number,
): string {
  const startsAt = validFrom + clockToleranceMs
  const seconds = Math.max(1, Math.ceil((startsAt - now) / 1_000))
  return `${issuedAt === startsAt ? 'iat' : 'nbf'} is ${seconds} s in the future`
}
