import { hash } from 'node:crypto'
import { copyString } from '#platform/text.ts'
import { type ForeignClaims, foreignClaimsBytes } from '../issuers/foreign-claims.ts'
import type { VerifiedForeignTokens } from '../issuers/foreign-tokens.ts'
import type { VerifiedTokens } from '../tokens/access-token.ts'
import type { AccessTokenClaims } from '../tokens/access-token-claims.ts'
import { createLru } from './lru.ts'

/** The size of an entry for a verified token; long IDs and scopes are added. */
const verifiedBytesEach = 512
/** The size of an entry without the texts of its claims: digest, objects, numbers, and slots in the cache. */
const entryBytes = 384
/** The size of a scope without its text. */
const scopeBytes = 32
/** The size of a thumbprint, with its object. */
const confirmationBytesEach = 96
/** How many recently used tokens are kept with their text, and how many bytes they take together. */
const recentMax = 8_192
const recentBytesMax = 8 * 1_024 * 1_024
/** How many rejected tokens are cached at most, and of what length: at most 9 MiB together. */
const refusedMax = 4_096
const refusedLengthMax = 2_048
/** Texts are looked up by their last characters, 72 bits of the signature, which is cheaper than hashing all. */
const tailLength = 12

/** The result for one token. */
interface CachedFinding<Finding> {
  /** The whole token, as two tokens may end alike. */
  readonly token: string
  readonly finding: Finding
}

/**
 * Tokens whose signature was verified. Cleared when keys change. They are kept by SHA-256, to save memory; recently
 * used ones by text too, to save digesting it. Rejected tokens are kept separately, so that invented ones evict no
 * valid ones.
 * @param entriesMax of valid tokens, of 512 bytes each: fewer if their claims are longer
 */
export function createVerifiedTokens(entriesMax: number): VerifiedTokens & { clear(): void } {
  const verified = createLru<AccessTokenClaims>(entriesMax, {
    bytesMax: entriesMax * verifiedBytesEach,
    sizeOf: bytesOf,
  })
  const recent = createLru<CachedFinding<AccessTokenClaims>>(Math.min(entriesMax, recentMax), {
    bytesMax: recentBytesMax,
    sizeOf: ({ token, finding }) => token.length + bytesOf(finding),
  })
  const refused = createLru<CachedFinding<string>>(refusedMax)

  function findByDigest(token: string): AccessTokenClaims | undefined {
    const claims = verified.get(digestOf(token))
    if (claims) keep(recent, token, claims)
    return claims
  }

  return {
    get: (token) => findingOf(recent.get(tailOf(token)), token) ?? findByDigest(token),
    set: (token, claims) => {
      verified.set(digestOf(token), claims)
      keep(recent, token, claims)
    },
    setRefused: (token, reason) => {
      if (token.length <= refusedLengthMax) keep(refused, token, reason)
    },
    refusalReason: (token) => findingOf(refused.get(tailOf(token)), token),
    clear: () => {
      verified.clear()
      recent.clear()
      refused.clear()
    },
  }
}

function bytesOf({ accountId, sessionId, role, scopes, confirmation }: AccessTokenClaims): number {
  const scopesBytes = scopes.reduce((sum, scope) => sum + scopeBytes + scope.length, 0)
  const confirmationBytes = confirmation ? confirmationBytesEach : 0
  return entryBytes + accountId.length + sessionId.length + role.length + scopesBytes + confirmationBytes
}

function digestOf(token: string): string {
  return hash('sha256', token, 'base64url')
}

function keep<Finding>(
  cache: { set(key: string, value: CachedFinding<Finding>): void },
  token: string,
  finding: Finding,
): void {
  // Copies: a slice of a request's head would keep the whole head in memory.
  cache.set(copyString(tailOf(token)), { token: copyString(token), finding })
}

function tailOf(token: string): string {
  return token.slice(-tailLength)
}

function findingOf<Finding>(known: CachedFinding<Finding> | undefined, token: string): Finding | undefined {
  return known?.token === token ? known.finding : undefined
}

/** How many rejected tokens are cached at most, in about 1 MiB. */
const refusedForeignMax = 4_096

/**
 * Tokens of foreign issuers whose signature was verified. They are kept by digest, as tokens of some issuers have
 * several KiB. Rejected tokens are kept separately, so that invented ones evict no valid ones.
 * @param entriesMax of valid tokens, of 512 bytes each: fewer if their claims are longer
 */
export function createVerifiedForeignTokens(entriesMax: number): VerifiedForeignTokens & {
  clear(): void
  clearRefused(): void
} {
  const verified = createLru<ForeignClaims>(entriesMax, {
    bytesMax: entriesMax * verifiedBytesEach,
    sizeOf: foreignClaimsBytes,
  })
  const refused = createLru<{ readonly reason: string }>(refusedForeignMax)
  return {
    get: verified.get,
    set: verified.set,
    setRefused: (digest, reason) => refused.set(digest, { reason }),
    refusalReason: (digest) => refused.get(digest)?.reason,
    clear: () => {
      verified.clear()
      refused.clear()
    },
    clearRefused: refused.clear,
  }
}
