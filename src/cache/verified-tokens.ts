import { copyOf } from '../copy.ts'
import type { AccessTokenClaims, VerifiedTokens } from '../tokens/access-token.ts'
import { createLru } from './lru.ts'

/** Refused tokens remembered at most, and how long one may be: together no more than 9 MiB. */
const refusedMax = 4_096
const refusedLengthMax = 2_048

/**
 * Tokens whose signature was checked: a look-up instead of 73 us for ES256. Cleared when keys change. Those that
 * were refused have a place of their own, so that made-up ones push out none that are right; one that is longer
 * than any of ours is read anew each time.
 */
export function createVerifiedTokens(entriesMax: number): VerifiedTokens & { clear(): void } {
  const verified = createLru<AccessTokenClaims>(entriesMax)
  const refused = createLru<typeof isRefused>(refusedMax)

  return {
    get: verified.get,
    // A text of its own: a piece of a request's head would keep the whole head in memory.
    set: (token, claims) => verified.set(copyOf(token), claims),
    refuse: (token) => {
      if (token.length <= refusedLengthMax) refused.set(copyOf(token), isRefused)
    },
    isRefused: (token) => refused.get(token) !== undefined,
    clear: () => {
      verified.clear()
      refused.clear()
    },
  }
}

const isRefused = {}
