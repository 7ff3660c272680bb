import { createJwtSigner, createJwtVerifier, perKey } from './jwt.ts'
import type { Keyring } from './keyring.ts'
import type { SigningKey } from './signing-keys.ts'
import { createTokenId, roleEpochOf } from './token-id.ts'

/** What an access token says (RFC 9068, less what only other issuers need). Times are milliseconds. */
export interface AccessTokenClaims {
  readonly accountId: string
  readonly sessionId: string
  readonly role: string
  /** Which of the roles that the account has had this is, from 1; told by `jti`. */
  readonly roleEpoch: number
  readonly issuedAt: number
  /** From the later of `iat` and `nbf` up to `exp`, with the tolerance for other clocks on both sides. */
  readonly validFrom: number
  readonly validUntil: number
}

/** What a token is about. */
export type TokenSubject = Pick<AccessTokenClaims, 'accountId' | 'sessionId' | 'role' | 'roleEpoch'>

export type AccessTokenVerdict =
  | { readonly kind: 'valid'; readonly claims: AccessTokenClaims }
  | {
      readonly kind: 'invalid'
      readonly code: 'token-invalid' | 'token-expired'
      /** Set where only another set of keys could make it right: it need not be looked into any further. */
      readonly isFinal?: true
    }

export interface AccessTokens {
  issue(subject: TokenSubject): string
  /** To be asked before anything is changed for a token. @throws GatehouseError `store-unavailable` */
  assertCanIssue(): void
  /** Signature, header and claims, at this moment. @throws GatehouseError `store-unavailable` without keys */
  verify(token: string): AccessTokenVerdict
  /** Whether a token was found invalid only because its key is not known here, as one made since would be. */
  isOfNewKey(token: string): boolean
  /** Why a token is `token-invalid`, in words for the log. To be asked after `verify`; no signature is checked again. */
  whyInvalid(token: string): string
}

/** Tokens that have been read, by their text; whoever keeps them drops them when keys change. */
export interface VerifiedTokens {
  get(token: string): AccessTokenClaims | undefined
  set(token: string, claims: AccessTokenClaims): void
  /** Remembers a token, as far as there is room, that only other keys could make a right one. */
  refuse(token: string): void
  isRefused(token: string): boolean
}

export interface AccessTokensOptions {
  readonly keyring: Keyring
  readonly verified: VerifiedTokens
  readonly issuer: string
  readonly audience: string
  readonly accessLifetimeMs: number
  readonly clockToleranceMs: number
  /** Milliseconds since 1970. */
  readonly clock: () => number
}

const type = 'at+jwt'
const invalid = { kind: 'invalid', code: 'token-invalid' } as const
const invalidForGood = { kind: 'invalid', code: 'token-invalid', isFinal: true } as const
const expired = { kind: 'invalid', code: 'token-expired' } as const

export function createAccessTokens(options: AccessTokensOptions): AccessTokens {
  const { keyring, verified, issuer, audience, accessLifetimeMs, clockToleranceMs, clock } = options
  const expected = { issuer, audience, clockToleranceMs }
  const signerOf = perKey((key) => createJwtSigner(key, type))
  const verifierOf = perKey(createJwtVerifier)

  function issue({ accountId, sessionId, role, roleEpoch }: TokenSubject): string {
    const key = keyring.signer(clock())
    const iat = Math.floor(clock() / 1_000)
    const exp = iat + Math.ceil(accessLifetimeMs / 1_000)
    const claims = {
      iss: issuer,
      aud: audience,
      sub: accountId,
      sid: sessionId,
      role,
      iat,
      exp,
      jti: createTokenId(roleEpoch),
    }
    return signerOf(key)(claims)
  }

  function verify(token: string): AccessTokenVerdict {
    const known = verified.get(token)
    if (known === undefined && verified.isRefused(token)) return invalidForGood
    const claims = known ?? verifySignature(token)
    if (claims === undefined) return invalid
    const now = clock()
    // At the very second of exp it is over (RFC 7519 4.1.4).
    if (now >= claims.validUntil) return expired
    return now < claims.validFrom ? invalid : { kind: 'valid', claims }
  }

  function verifySignature(token: string): AccessTokenClaims | undefined {
    const kid = isCanonical(token) ? signingKeyIdOf(token) : undefined
    const key = kid === undefined ? undefined : keyring.find(kid)
    // Its key may come yet.
    if (kid !== undefined && key === undefined) return undefined
    const claims = key && claimsOf(token, key)
    if (claims) verified.set(token, claims)
    else verified.refuse(token)
    return claims
  }

  function claimsOf(token: string, key: SigningKey): AccessTokenClaims | undefined {
    const payload = decode(verifierOf(key), token)
    return parseClaims(payload, expected)
  }

  function isOfNewKey(token: string): boolean {
    if (verified.isRefused(token)) return false
    const kid = isCanonical(token) ? signingKeyIdOf(token) : undefined
    if (kid === undefined || !keyring.mayBeNew(kid)) return false
    return parseClaims(parseJson(partOf(token, 1)), expected) !== undefined
  }

  function whyInvalid(token: string): string {
    const claims = verified.get(token)
    if (claims) return tellFuture(claims)
    const [header, payload] = [parseJson(partOf(token, 0)), parseJson(partOf(token, 1))]
    if (!header || !payload || !isCanonical(token)) return 'malformed'
    const kid = signingKeyIdOf(token)
    if (kid === undefined) return header.typ === type ? 'no kid, or crit' : 'wrong typ'
    const key = keyring.find(kid)
    if (!key) return 'unknown kid'
    if (header.alg !== key.material.algorithm) return 'wrong alg'
    if (payload.iss !== issuer) return 'wrong iss'
    if (!includesAudience(payload.aud, audience)) return 'wrong aud'
    return parseClaims(payload, expected) ? 'bad signature' : 'a claim is missing or wrong'
  }

  function tellFuture({ issuedAt, validFrom }: AccessTokenClaims): string {
    const startsAt = validFrom + clockToleranceMs
    const seconds = Math.max(1, Math.ceil((startsAt - clock()) / 1_000))
    return `${issuedAt === startsAt ? 'iat' : 'nbf'} is ${seconds} s in the future`
  }

  return { issue, assertCanIssue: () => void keyring.signer(clock()), verify, isOfNewKey, whyInvalid }
}

/** Any throw of the verifier is a token that is not ours, whatever it stumbled over. */
function decode(verifyToken: (token: string) => unknown, token: string): unknown {
  try {
    return verifyToken(token)
  } catch {
    return undefined
  }
}

/** Whether it is spelled as its issuer did: else one token could take many places among the verified ones. */
function isCanonical(token: string): boolean {
  const signature = token.slice(token.lastIndexOf('.') + 1)
  return Buffer.from(signature, 'base64url').toString('base64url') === signature
}

/** The key ID of a header that is as ours are; no `crit`, no key of its own (RFC 8725 3.1, 3.10). */
export function signingKeyIdOf(token: string): string | undefined {
  const header = parseJson(partOf(token, 0))
  if (header?.typ !== type || Object.hasOwn(header, 'crit')) return undefined
  const { kid } = header
  return typeof kid === 'string' ? kid : undefined
}

/** The epoch of the role that a token carries which was found right. */
export function roleEpochIn(token: string): number {
  const jti = parseJson(partOf(token, 1))?.jti
  return roleEpochOf(typeof jti === 'string' ? jti : '')
}

/** The text of the header (0) or payload (1), of whoever wrote it. */
function partOf(token: string, index: 0 | 1): string {
  return Buffer.from(token.split('.', 2)[index] ?? '', 'base64url').toString()
}

function parseClaims(
  payload: unknown,
  expected: Pick<AccessTokensOptions, 'issuer' | 'audience' | 'clockToleranceMs'>,
): AccessTokenClaims | undefined {
  if (!isRecord(payload)) return undefined
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

function includesAudience(aud: unknown, audience: string): boolean {
  return Array.isArray(aud) ? aud.includes(audience) : aud === audience
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0
}

function parseJson(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
