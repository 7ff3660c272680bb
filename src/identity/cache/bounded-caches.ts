import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Confirmation } from '../decision.ts'

/** A map that evicts the least recently used entry. */
interface Lru<Value extends object> {
  get(key: string): Value | undefined
  set(key: string, value: Value): void
  delete(key: string): void
  clear(): void
}

interface LruBytes<Value extends object> {
  /** For all entries together; one that is larger than this is not kept. */
  readonly bytesMax: number
  /** At least 1. */
  sizeOf(value: Value): number
}

/**
 * A cache that is allocated with its first entry, so that a start does not wait for it.
 * @param bytes needed if entries differ in length
 */
export function createLru<Value extends object>(entriesMax: number, bytes?: LruBytes<Value>): Lru<Value> {
  const limits = bytes && { maxSize: bytes.bytesMax, sizeCalculation: bytes.sizeOf }
  let entries: LRUCache<string, Value> | undefined

  function set(key: string, value: Value): void {
    entries ??= new LRUCache({ max: entriesMax, ...limits })
    entries.set(key, value)
  }

  return {
    get: (key) => entries?.get(key),
    set,
    delete: (key) => void entries?.delete(key),
    clear: () => entries?.clear(),
  }
}

/** Secret keys that are known to be invalid for good. */
interface RevokedKeys {
  /** @param digest of a key that was reset, or that the store has just shown to be wrong */
  add(digest: Uint8Array): void
  has(digest: Uint8Array): boolean
  clear(): void
}

/** @param digestsMax how many are kept: those used last */
export function createRevokedKeys(digestsMax: number): RevokedKeys {
  const revoked = createLru<typeof isRevoked>(digestsMax)

  return {
    add: (digest) => revoked.set(textOf(digest), isRevoked),
    has: (digest) => revoked.get(textOf(digest)) !== undefined,
    clear: revoked.clear,
  }
}

const isRevoked = {}

function textOf(digest: Uint8Array): string {
  return Buffer.from(digest).toString('base64')
}

/**
 * Results of verification, by the digest of a token, as tokens of some issuers have several KiB. To be cleared when
 * keys are withdrawn.
 */
export interface VerifiedTokens<Claims extends object> {
  get(digest: string): Claims | undefined
  set(digest: string, claims: Claims): void
  /** Caches the reason why a token is invalid, if only other keys could make it valid. */
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

/**
 * Half of SHA-256 would be enough to find a token, but not to rule out another that was crafted to be found instead.
 */
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
