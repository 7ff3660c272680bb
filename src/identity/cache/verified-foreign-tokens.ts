import type { ForeignClaims } from '../issuers/foreign-claims.ts'
import type { VerifiedForeignTokens } from '../issuers/foreign-tokens.ts'
import { createLru } from './lru.ts'

/** How many rejected tokens are cached at most, in some 1 MiB. */
const refusedMax = 4_096

/**
 * Tokens of foreign issuers whose signature was verified. They are kept by their digest, as tokens of some issuers
 * have several KiB: 100,000 take some 50 MB, however long they are. Rejected ones are kept apart, so that made-up
 * tokens evict no valid ones.
 */
export function createVerifiedForeignTokens(entriesMax: number): VerifiedForeignTokens & {
  clear(): void
  clearRefused(): void
} {
  const verified = createLru<ForeignClaims>(entriesMax)
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
