import { isRecord } from '#platform/json.ts'
import { isBearerToken, isOpaqueToken } from '#platform/secrets/key-format.ts'
import type { Clock } from '#platform/time.ts'
import { tokenDigest, type VerifiedTokens } from '../cache/bounded-caches.ts'
import { accessTokenType, isType, type ReadJwt, readJwt } from '../tokens/jwt.ts'
import { type ForeignClaims, type ForeignVerdict, parseForeignClaims } from './foreign-claims.ts'
import {
  type IssuerAlgorithm,
  type IssuerOptions,
  issuerAlgorithms,
  plainSpelling,
  spellingDifference,
  type TokenType,
} from './issuer.ts'
import type { IssuerKeys } from './issuer-keys.ts'
import type { ForeignIssuer } from './issuers.ts'
import type { PublicKey } from './public-keys.ts'

/** What is known of a token that its issuer has to be asked about; `unknown`: nothing, so it may be invented. */
export type Knowledge = 'active' | 'other' | 'unknown'

export interface ForeignTokens {
  /** undefined = nobody is asked about it: it is verified with keys, if at all. */
  knowledgeOf(token: string, accepted: ReadonlySet<string>): Knowledge | undefined
  /**
   * Checks signature, header, claims and time (RFC 8725). Returns a promise only if keys have to be fetched, or the
   * issuer has to be asked.
   * @param accepted names of issuers
   * @returns undefined if the token belongs to none of these: its `iss` is another, or cannot be read. A different
   * spelling of an accepted `iss` makes it invalid
   */
  verify(token: string, accepted: ReadonlySet<string>): ForeignVerdict | undefined | Promise<ForeignVerdict>
}

interface ForeignTokensOptions {
  readonly issuers: readonly ForeignIssuer[]
  /** The issuer of the gateway's own tokens, whose spelling may resemble a foreign one. */
  readonly ownIssuer: string
  readonly verified: VerifiedTokens<ForeignClaims>
  readonly clockToleranceMs: number
  readonly clock: Clock
}

const expired = { kind: 'expired' } as const

export function createForeignTokens(options: ForeignTokensOptions): ForeignTokens {
  const { verified, clockToleranceMs, clock, ownIssuer } = options
  const byIss = new Map(options.issuers.map((issuer) => [issuer.options.issuer, issuer]))
  const introspecting = options.issuers.filter(({ introspection }) => introspection !== undefined)
  const bySpelling = Map.groupBy(options.issuers, (issuer) => plainSpelling(issuer.options.issuer))

  function verify(token: string, accepted: ReadonlySet<string>): ReturnType<ForeignTokens['verify']> {
    const digest = tokenDigest(token)
    const claims = verified.get(digest)
    if (claims) return accepted.has(claims.issuer) ? verifyTimes(claims) : undefined
    const read = readJwt(token)
    const introspection = introspectionOf(token, read, accepted)
    if (introspection) return introspection.verify(digest, token)
    const issuer = read && findIssuer(read.payload, accepted)
    if (!issuer) return read && misspelt(read.payload, accepted)
    const { keys } = issuer
    if (!keys) return invalid(`issuer ${issuer.options.name}: malformed, or too long`)
    const reason = verified.refusalReason(digest)
    return reason === undefined ? verifyUncached(digest, { read, issuer, keys }) : invalid(reason)
  }

  /**
   * The introspection to use, or undefined. A JWT: that of the issuer in `iss`, if it has no keys. Any other token:
   * that of the route's only issuer with introspection. Never for a token or key of ours.
   */
  function introspectionOf(token: string, read: ReadJwt | undefined, accepted: ReadonlySet<string>) {
    if (introspecting.length === 0 || !isBearerToken(token)) return undefined
    if (!read) {
      const only = introspecting.find(({ options: { name } }) => accepted.has(name))
      return only && isOpaqueToken(token) ? only.introspection : undefined
    }
    const issuer = findIssuer(read.payload, accepted)
    return issuer?.keys ? undefined : issuer?.introspection
  }

  function knowledgeOf(token: string, accepted: ReadonlySet<string>): Knowledge | undefined {
    if (!introspecting.some(({ options: { name } }) => accepted.has(name))) return undefined
    const introspection = introspectionOf(token, readJwt(token), accepted)
    if (!introspection) return undefined
    const digest = tokenDigest(token)
    if (introspection.isActive(digest)) return 'active'
    return introspection.isUnknown(digest) ? 'unknown' : 'other'
  }

  function findIssuer({ iss }: ReadJwt['payload'], accepted: ReadonlySet<string>) {
    const issuer = typeof iss === 'string' ? byIss.get(iss) : undefined
    return issuer && accepted.has(issuer.options.name) ? issuer : undefined
  }

  /**
   * The reason for a token whose `iss` differs only in spelling: as it is compared exactly (RFC 7519 4.1.1), nobody
   * would otherwise find out that a slash is missing.
   */
  function misspelt({ iss }: ReadJwt['payload'], accepted: ReadonlySet<string>): ForeignVerdict | undefined {
    if (typeof iss !== 'string' || iss === ownIssuer) return undefined
    const meant = bySpelling.get(plainSpelling(iss))?.find(({ options: { name } }) => accepted.has(name))
    return meant && invalid(`issuer ${meant.options.name}: ${spellingDifference(iss, meant.options.issuer)}`)
  }

  function verifyTimes(claims: ForeignClaims): ForeignVerdict {
    const now = clock()
    // A token has expired once the time of exp is reached (RFC 7519 4.1.4).
    if (now >= claims.validUntil) return expired
    if (now >= claims.validFrom) return { kind: 'valid', claims }
    return { kind: 'invalid', reason: 'iat or nbf is in the future', isCacheable: false }
  }

  function verifyUncached(digest: string, unverified: Unverified): ForeignVerdict | Promise<ForeignVerdict> {
    const { read, issuer, keys } = unverified
    const algorithm = algorithmOf(read, issuer.options)
    if (typeof algorithm !== 'string') return refuse(digest, issuer, algorithm.wrong)
    const { kid } = read
    const key = keys.find(kid, algorithm)
    if (key !== 'never-had' && key !== 'unknown')
      return verifyWithKey(digest, key, { read, issuer, algorithm })
    return keys.refetch().then((isCurrent) => {
      const latest = keys.find(kid, algorithm)
      if (latest === 'never-had') return { kind: 'undecided', reason: 'the keys of the issuer are not known' }
      if (latest !== 'unknown') return verifyWithKey(digest, latest, { read, issuer, algorithm })
      if (isCurrent) return { kind: 'invalid', reason: 'unknown kid', isCacheable: false }
      return { kind: 'undecided', reason: 'unknown kid, and the keys of the issuer cannot be fetched' }
    })
  }

  function verifyWithKey(
    digest: string,
    key: PublicKey | 'several',
    { read, issuer, algorithm }: VerifiedBy,
  ): ForeignVerdict {
    if (key === 'several')
      return refuse(digest, issuer, read.kid === undefined ? 'no kid' : 'several keys with this kid')
    const claims = parseForeignClaims(read.payload, issuer.options, { clockToleranceMs })
    if ('wrong' in claims) return refuse(digest, issuer, `a claim is missing or wrong: ${claims.wrong}`)
    if (!isSignedBy(read.token, key, algorithm)) return refuse(digest, issuer, 'bad signature')
    verified.set(digest, claims)
    return verifyTimes(claims)
  }

  function refuse(digest: string, { options: { name } }: ForeignIssuer, wrong: string): ForeignVerdict {
    const reason = `issuer ${name}: ${wrong}`
    verified.setRefused(digest, reason)
    return invalid(reason)
  }

  return { knowledgeOf, verify }
}

interface Unverified {
  readonly read: ReadJwt
  readonly issuer: ForeignIssuer
  readonly keys: Pick<IssuerKeys, 'find' | 'refetch'>
}

interface VerifiedBy extends Pick<Unverified, 'read' | 'issuer'> {
  readonly algorithm: IssuerAlgorithm
}

function invalid(reason: string): ForeignVerdict {
  return { kind: 'invalid', reason, isCacheable: true }
}

/** Explicit typing (RFC 8725 3.11), if the issuer uses it. */
function isTypeAccepted({ header: { typ } }: ReadJwt, tokenType: TokenType): boolean {
  if (isType(typ, accessTokenType)) return true
  return tokenType === 'any' && (typ === undefined || isType(typ, 'jwt'))
}

/** The algorithm of the token, if the issuer may use it (RFC 8725 3.1). */
function algorithmOf(
  read: ReadJwt,
  { algorithms, tokenType }: IssuerOptions,
): IssuerAlgorithm | { readonly wrong: string } {
  const { wrong } = read
  const { alg } = read.header
  if (!isTypeAccepted(read, tokenType)) return { wrong: `wrong typ (tokenType: ${tokenType})` }
  if (wrong !== undefined) return { wrong }
  const algorithm = issuerAlgorithms.find((one) => one === alg)
  if (algorithm === undefined || !algorithms.includes(algorithm)) return { wrong: 'wrong alg' }
  return algorithm
}

/** If the verifier throws, for whatever reason, the token is not the issuer's. */
function isSignedBy(token: string, key: PublicKey, algorithm: IssuerAlgorithm): boolean {
  try {
    return isRecord(key.verifierOf(algorithm)(token))
  } catch {
    return false
  }
}
