import { emailLengthMax } from '#accounts/account-input.ts'
import { isRecord } from '#platform/json.ts'
import { memoizeBounded } from '#platform/memoize.ts'
import type { EpochMs } from '#platform/time.ts'
import { claimsBytes } from '../cache/bounded-caches.ts'
import { type Confirmation, parseConfirmation, type TokenVerdict } from '../decision.ts'
import { includesAudience, isTime } from '../tokens/access-token-claims.ts'
import { type ClaimPath, claimAt, findMissingClaim, type IssuerOptions, type RoleMapping } from './issuer.ts'
import { isSubject, principalId } from './subjects.ts'

/** The claims of an issuer's token that the gateway uses. Times are in milliseconds. */
export interface ForeignClaims {
  /** The name of the issuer in the config. */
  readonly issuer: string
  /** See `principalId` in subjects.ts. */
  readonly principalId: string
  readonly role: string
  /** Empty = the token names none, or they are not read. */
  readonly scopes: readonly string[]
  readonly email: string | undefined
  readonly isEmailVerified: boolean
  /** The plan of all users of the issuer; undefined = none. */
  readonly plan: string | undefined
  /** What whoever sends it has to prove; undefined = nothing. */
  readonly confirmation: Confirmation | undefined
  /** From the later of `iat` and `nbf` up to `exp`, with the clock tolerance on both sides. */
  readonly validFrom: EpochMs
  readonly validUntil: EpochMs
}

/** `undecided`: the keys that it has to be checked with are not known, or its issuer cannot be asked about it. */
export type ForeignVerdict =
  | TokenVerdict<ForeignClaims>
  | { readonly kind: 'undecided'; readonly reason: string }

/** Why a claim keeps a token from being accepted, in words for the log. */
interface WrongClaim {
  readonly wrong: string
}

type Payload = Readonly<Record<string, unknown>>

/** As for scopes of keys: anything longer is not a name. */
const scopeLengthMax = 128
/** Some issuers list each permission of a user. */
const scopesMax = 1_000
/** RFC 6749 3.3. */
const scopeCharacters = /^[!#-[\]-~]+$/

interface ClaimsOptions {
  readonly clockToleranceMs: number
  /** Whether they are the issuer's answer about a token (RFC 7662 2.2), which needs neither iss nor exp. */
  readonly isAnswer?: boolean
}

/** Reads the claims of a token; times are not compared with the clock. */
export function parseForeignClaims(
  payload: Payload,
  issuer: IssuerOptions,
  { clockToleranceMs, isAnswer = false }: ClaimsOptions,
): ForeignClaims | WrongClaim {
  const { iat, nbf, exp, cnf } = payload
  const wrong = wrongOrigin(payload, issuer, isAnswer) ?? wrongPurpose(payload)
  if (wrong !== undefined) return { wrong }
  const confirmation = parseConfirmation(cnf)
  if (confirmation === 'unsupported') return { wrong: 'cnf: unknown confirmation method' }
  const end = isAnswer && exp === undefined ? Number.POSITIVE_INFINITY : timeOf(exp)
  if (end === undefined) return { wrong: 'exp' }
  if (iat !== undefined && !isTime(iat)) return { wrong: 'iat' }
  if (nbf !== undefined && !isTime(nbf)) return { wrong: 'nbf' }
  const subject = claimAt(payload, issuer.subject)
  if (!isSubject(subject)) return { wrong: issuer.subject.join('.') }
  const scopes = issuer.scopes && readScopes(claimAt(payload, issuer.scopes))
  if (scopes === null) return { wrong: issuer.scopes?.join('.') ?? 'scope' }
  return {
    issuer: issuer.name,
    principalId: principalId(issuer.name, subject),
    role: roleOf(payload, issuer.role),
    scopes: scopes ?? noScopes,
    email: issuer.email && readEmail(payload, issuer.email),
    isEmailVerified: payload.email_verified === true,
    plan: issuer.plan,
    confirmation,
    validFrom: Math.max(iat ?? 0, nbf ?? 0) * 1_000 - clockToleranceMs,
    validUntil: end * 1_000 + clockToleranceMs,
  }
}

/** What is wrong with the issuer and the audience of a token; undefined = nothing. */
function wrongOrigin(payload: Payload, issuer: IssuerOptions, isAnswer: boolean): string | undefined {
  const { iss, aud } = payload
  if (iss !== issuer.issuer && !(isAnswer && iss === undefined)) return 'iss'
  if (!isForUs(aud, issuer)) return 'aud'
  const missing = findMissingClaim(payload, issuer.require)
  if (missing !== undefined) return `${missing} (require)`
  return isAnswer ? wrongTokenType(payload) : undefined
}

function isForUs(aud: unknown, { audiences }: IssuerOptions): boolean {
  return audiences.length === 0 || audiences.some((audience) => includesAudience(aud, audience))
}

/**
 * Recognises tokens that issuers sign for other purposes (RFC 8725 2.8), as `typ` does not always show these: ID tokens
 * (OpenID Connect Core 1.0, 3.1.3.6), logout tokens and other security events (RFC 8417), and those that Keycloak and
 * Cognito mark by claims of their own.
 */
function wrongPurpose(payload: Payload): string | undefined {
  const { typ, cnf, token_use: use, at_hash, c_hash, nonce, auth_time, events } = payload
  if (events !== undefined) return 'events: a security event, not an access token'
  if (at_hash !== undefined || c_hash !== undefined) return 'at_hash or c_hash: an ID token'
  // The nonce that the client sent for its ID token, which need not have any hash (Core 1.0, 3.1.3.6).
  if (nonce !== undefined) return 'nonce: an ID token'
  if (auth_time !== undefined && !accessClaims.some((name) => isNamed(payload[name])))
    return `auth_time without ${accessClaims.join(', ')}: an ID token`
  if (use !== undefined && use !== 'access' && use !== 'access_token') return 'token_use: not an access token'
  const isAccess = typ === undefined || typ === 'Bearer' || (typ === 'DPoP' && isBoundToKey(cnf))
  return isAccess ? undefined : 'the claim typ: not an access token'
}

function isBoundToKey(cnf: unknown): boolean {
  return isRecord(cnf) && cnf.jkt !== undefined
}

/** Issuers answer about refresh tokens too: if they name a type, it is not `Bearer` (RFC 7662 2.2, RFC 6749 7.1). */
function wrongTokenType({ token_type: type, cnf }: Payload): string | undefined {
  if (type === undefined) return undefined
  const name = typeof type === 'string' ? type.toLowerCase() : ''
  if (name === 'dpop') return isBoundToKey(cnf) ? undefined : 'token_type DPoP without cnf.jkt'
  return name === 'bearer' ? undefined : 'token_type: not an access token'
}

/**
 * Claims that only access tokens have: whom they were issued to and for what (RFC 9068 2.2), with the names that Entra
 * and Okta use.
 */
const accessClaims = ['client_id', 'scope', 'cid', 'scp'] as const

function isNamed(value: unknown): boolean {
  return (typeof value === 'string' || Array.isArray(value)) && value.length > 0
}

/** Roles come from the map only: a role of the same name in the token means nothing by itself. */
function roleOf(payload: Payload, { claim, map, default: fallback }: RoleMapping): string {
  const value = claim && claimAt(payload, claim)
  const values: readonly unknown[] = Array.isArray(value) ? value : [value]
  return map.find(([name]) => values.includes(name))?.[1] ?? fallback
}

const noScopes: readonly string[] = []

/** Most tokens of an issuer have the same scopes, and share one list. */
const splitScopes = memoizeBounded({ entriesMax: 1_000, keyLengthMax: 1_024 }, (text) => [
  ...new Set(text.split(' ').filter((scope) => scope !== '')),
])

/** @returns undefined if there are none; null if it is neither a text (RFC 9068 2.2.3) nor a list of scopes */
function readScopes(value: unknown): readonly string[] | null | undefined {
  if (value === undefined || value === null) return undefined
  const scopes = typeof value === 'string' ? splitScopes(value) : value
  return Array.isArray(scopes) && scopes.length <= scopesMax && scopes.every(isScope) ? scopes : null
}

function isScope(value: unknown): value is string {
  return typeof value === 'string' && value.length <= scopeLengthMax && scopeCharacters.test(value)
}

/** The e-mail is only passed to upstreams; one that cannot be passed is left out. */
function readEmail(payload: Payload, path: ClaimPath): string | undefined {
  const value = claimAt(payload, path)
  const isEmail =
    typeof value === 'string' && value.length <= emailLengthMax && /^[^\s@]+@[^\s@]+$/.test(value)
  return isEmail ? value : undefined
}

/** About how many bytes of memory they take. */
export function foreignClaimsBytes({ principalId, role, email = '', ...limits }: ForeignClaims): number {
  return claimsBytes({ texts: [principalId, role, email], ...limits })
}

function timeOf(value: unknown): number | undefined {
  return isTime(value) ? value : undefined
}
