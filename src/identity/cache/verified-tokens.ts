import { hash } from 'node:crypto'
import type { Confirmation } from '../possession/confirmation.ts'
import { createLru } from './lru.ts'

/**
 * Results of verification, by the digest of a token, as tokens of some issuers have several KiB. To be cleared when keys
 * are withdrawn.
 */
export interface VerifiedTokens<Claims extends object> {
  get(digest: string): Claims | undefined
  set(digest: string, claims: Claims): void
  /** Caches why a token is invalid that only other keys could make valid. */
  setRefused(digest: string, reason: string): void
  /** Why a token was rejected; undefined = not cached. */
  refusalReason(digest: string): string | undefined
  clear(): void
  clearRefused(): void
}

/** The size of an entry for a verified token; long IDs and scopes are added. */
const verifiedBytesEach = 512
/** The size of an entry without the texts of its claims: digest, objects, numbers, and slots in the cache. */
const entryBytes = 384
/** The size of a scope without its text. */
const scopeBytes = 32
/** The size of a thumbprint, with its object. */
const confirmationBytesEach = 96
/** How many rejected tokens are cached at most, in about 1 MiB. */
const refusedMax = 4_096

/**
 * Tokens whose signature was verified. Rejected ones are kept separately, so that invented ones evict no valid ones.
 * @param entriesMax of valid tokens, of 512 bytes each: fewer if their claims are longer
 */
export function createVerifiedTokens<Claims extends object>(
  entriesMax: number,
  bytesOf: (claims: Claims) => number,
): VerifiedTokens<Claims> {
  const verified = createLru<Claims>(entriesMax, {
    bytesMax: entriesMax * verifiedBytesEach,
    sizeOf: bytesOf,
  })
  const refused = createLru<{ readonly reason: string }>(refusedMax)
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

/** Half of SHA-256 would be enough to find a token, but not to rule out one that was crafted to match it. */
export function tokenDigest(token: string): string {
  return hash('sha256', token, 'base64url')
}

interface KeptClaims {
  /** Of IDs, and whatever else differs from token to token. */
  readonly texts: readonly string[]
  readonly scopes: readonly string[]
  readonly confirmation: Confirmation | undefined
}

/** About how many bytes of memory claims take. */
export function claimsBytes({ texts, scopes, confirmation }: KeptClaims): number {
  return (
    entryBytes +
    texts.reduce((sum, { length }) => sum + length, 0) +
    scopes.reduce((sum, { length }) => sum + scopeBytes + length, 0) +
    (confirmation ? confirmationBytesEach : 0)
  )
}
