import { isRecord } from '#platform/json.ts'
import { memoizeByObject } from '#platform/memoize.ts'
import type { Clock, EpochMs } from '#platform/time.ts'
import { unlimited } from '#store/secret-keys.ts'
import { tokenDigest, type VerifiedTokens } from '../cache/bounded-caches.ts'
import type { TokenVerdict } from '../decision.ts'
import {
  type AccessTokenClaims,
  createTokenId,
  type ExpectedClaims,
  includesAudience,
  parseClaims,
} from './access-token-claims.ts'
import {
  accessTokenType,
  createJwtSigner,
  createJwtVerifier,
  headerOf,
  isCanonical,
  payloadOf,
  signingKeyIdOf,
} from './jwt.ts'
import type { Keyring } from './keyring.ts'
import type { SigningKey } from './signing-keys.ts'

interface TokenSubject extends Pick<AccessTokenClaims, 'accountId' | 'sessionId' | 'role' | 'roleEpoch'> {
  /** `client_id`, the OAuth 2 client that it is issued to; absent = none. */
  readonly clientId?: string | undefined
  /** What its session's key is limited to; absent = it is not limited. */
  readonly limits?: TokenLimits
  /** The thumbprint of the key that it is bound to (RFC 9449 6.1); absent = none. */
  readonly jkt?: string | undefined
}

export interface TokenLimits {
  readonly scopes: readonly string[]
  /** When the key ends; Infinity = never. */
  readonly validUntil: EpochMs
}

const noLimits: TokenLimits = { scopes: unlimited, validUntil: Number.POSITIVE_INFINITY }

type AccessTokenVerdict = TokenVerdict<AccessTokenClaims>

export interface AccessTokens {
  issue(subject: TokenSubject): string
  /**
   * The token for the access cookie. It lives longer than others, and is marked, as only marked ones can be renewed:
   * the others are also in the hands of programs, and of backends with `forwardCredentials`, which must not be able to
   * prolong them without the refresh token.
   * @param until when its session ends, unless it is refreshed: then there is another token
   * @returns undefined if there is no such cookie
   */
  issueForCookie(subject: TokenSubject, until: EpochMs): string | undefined
  /**
   * The token of an access cookie with a new lifetime, up to the end of its session, if it has used up half of the old
   * one.
   * @returns undefined if it is no such token, is invalid or too new, or would not live longer
   * @throws GatehouseError `store-unavailable`
   */
  renew(token: string): string | undefined
  /**
   * To be called before anything is changed that needs a token.
   * @throws GatehouseError `store-unavailable`
   */
  assertCanIssue(): void
  /** Checks signature, header, claims and time. @throws GatehouseError `store-unavailable` without keys */
  verify(token: string): AccessTokenVerdict
  /** Whether an invalid token may have been signed by a new key that is not loaded here yet. */
  mayHaveNewKey(token: string): boolean
}

export interface AccessTokensOptions extends ExpectedClaims {
  readonly keyring: Keyring
  readonly verified: VerifiedTokens<AccessTokenClaims>
  readonly accessLifetimeMs: number
  /** Lifetime of the tokens in access cookies; undefined = there is no such cookie. */
  readonly cookieLifetimeMs?: number | undefined
  readonly clock: Clock
}

const expired = { kind: 'expired' } as const
/** The claim that marks tokens for the access cookie: until when they can be renewed, in s. */
interface CookieMark {
  readonly cookie: number
}

export function createAccessTokens(options: AccessTokensOptions): AccessTokens {
  const { keyring, verified, issuer, audience, accessLifetimeMs, cookieLifetimeMs, clockToleranceMs, clock } =
    options
  const expected = { issuer, audience, clockToleranceMs }
  // By key, not by its ID, as a key may be replaced under the same ID.
  const signerOf = memoizeByObject((key: SigningKey) => createJwtSigner(key, accessTokenType))
  const verifierOf = memoizeByObject(createJwtVerifier)

  function sign(subject: TokenSubject, lifetimeMs: number, mark?: CookieMark): string {
    const { accountId, clientId, sessionId, role, roleEpoch, limits = noLimits, jkt } = subject
    const key = keyring.signer(clock())
    const iat = Math.floor(clock() / 1_000)
    const exp = Math.min(iat + Math.ceil(lifetimeMs / 1_000), Math.floor(limits.validUntil / 1_000))
    const claims = {
      iss: issuer,
      aud: audience,
      sub: accountId,
      sid: sessionId,
      role,
      iat,
      exp,
      jti: createTokenId(roleEpoch),
      ...(clientId !== undefined && { client_id: clientId }),
      ...(limits.scopes.length > 0 && { scope: limits.scopes.join(' ') }),
      ...(jkt !== undefined && { cnf: { jkt } }),
      ...mark,
    }
    return signerOf(key)(claims)
  }

  function issueForCookie(subject: TokenSubject, until: EpochMs): string | undefined {
    if (cookieLifetimeMs === undefined) return undefined
    const { limits = noLimits } = subject
    const validUntil = Math.min(limits.validUntil, until)
    const mark = { cookie: Math.floor(validUntil / 1_000) }
    return sign({ ...subject, limits: { ...limits, validUntil } }, cookieLifetimeMs, mark)
  }

  function renew(token: string): string | undefined {
    const verdict = verify(token)
    const payload = verdict.kind === 'valid' ? payloadOf(token) : undefined
    const until = payload?.cookie
    if (verdict.kind !== 'valid' || typeof until !== 'number' || cookieLifetimeMs === undefined)
      return undefined
    const { issuedAt, validUntil, roleEpoch } = verdict.claims
    const exp = (validUntil - clockToleranceMs) / 1_000
    const iat = Math.floor(clock() / 1_000)
    if (clock() < (issuedAt + exp * 1_000) / 2) return undefined
    const newExp = Math.min(iat + Math.ceil(cookieLifetimeMs / 1_000), until)
    if (newExp <= exp) return undefined
    return signerOf(keyring.signer(clock()))({ ...payload, iat, exp: newExp, jti: createTokenId(roleEpoch) })
  }

  function verify(token: string): AccessTokenVerdict {
    const digest = tokenDigest(token)
    const claims = verified.get(digest)
    if (claims) return verifyTimes(claims)
    const reason = verified.refusalReason(digest)
    return reason === undefined
      ? verifyUncached(token, digest)
      : { kind: 'invalid', reason, isCacheable: true }
  }

  function verifyTimes(claims: AccessTokenClaims): AccessTokenVerdict {
    const now = clock()
    // A token has expired once the time of exp is reached (RFC 7519 4.1.4).
    if (now >= claims.validUntil) return expired
    if (now >= claims.validFrom) return { kind: 'valid', claims }
    return { kind: 'invalid', reason: notYetValidReason(claims, expected, now), isCacheable: false }
  }

  function verifyUncached(token: string, digest: string): AccessTokenVerdict {
    const kid = canonicalKeyIdOf(token)
    const key = kid === undefined ? undefined : keyring.find(kid)
    const claims = key && verifyWithKey(token, key)
    if (claims) {
      verified.set(digest, claims)
      return verifyTimes(claims)
    }
    const reason = invalidReason(token, key, expected)
    // A key that is not known may still be added.
    const isCacheable = kid === undefined || key !== undefined
    if (isCacheable) verified.setRefused(digest, reason)
    return { kind: 'invalid', reason, isCacheable }
  }

  function verifyWithKey(token: string, key: SigningKey): AccessTokenClaims | undefined {
    const payload = decode(verifierOf(key), token)
    return isRecord(payload) ? parseClaims(payload, expected) : undefined
  }

  function mayHaveNewKey(token: string): boolean {
    const kid = canonicalKeyIdOf(token)
    if (kid === undefined || !keyring.mayBeNew(kid)) return false
    const payload = payloadOf(token)
    return payload !== undefined && parseClaims(payload, expected) !== undefined
  }

  return {
    issue: (subject) => sign(subject, accessLifetimeMs),
    issueForCookie,
    renew,
    assertCanIssue: () => void keyring.signer(clock()),
    verify,
    mayHaveNewKey,
  }
}

/** The key ID of a token whose encoding and header are like those of our tokens. */
function canonicalKeyIdOf(token: string): string | undefined {
  return isCanonical(token) ? signingKeyIdOf(token) : undefined
}

/** If the verifier throws, for whatever reason, the token is not ours. */
function decode(verifyToken: (token: string) => unknown, token: string): unknown {
  try {
    return verifyToken(token)
  } catch {
    return undefined
  }
}

/** Why a token is invalid, for the log; the signature is not verified again. */
function invalidReason(token: string, key: SigningKey | undefined, expected: ExpectedClaims): string {
  const [header, payload] = [headerOf(token), payloadOf(token)]
  if (!header || !payload || !isCanonical(token)) return 'malformed'
  // First, as nothing else in a token of another issuer hints at what is wrong.
  if (payload.iss !== expected.issuer) return 'wrong iss'
  if (signingKeyIdOf(token) === undefined)
    return header.typ === accessTokenType ? 'no kid, or crit' : 'wrong typ'
  if (!key) return 'unknown kid'
  if (header.alg !== key.material.algorithm) return 'wrong alg'
  if (!includesAudience(payload.aud, expected.audience)) return 'wrong aud'
  return parseClaims(payload, expected) ? 'bad signature' : 'a claim is missing or wrong'
}

/** Why a token is not valid yet, for the log. */
function notYetValidReason(
  { issuedAt, validFrom }: AccessTokenClaims,
  { clockToleranceMs }: ExpectedClaims,
  now: EpochMs,
): string {
  const startsAt = validFrom + clockToleranceMs
  const seconds = Math.max(1, Math.ceil((startsAt - now) / 1_000))
  return `${issuedAt === startsAt ? 'iat' : 'nbf'} is ${seconds} s in the future`
}
