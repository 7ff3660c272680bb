import type { AccessTokenClaims, VerifiedTokens } from '../tokens/access-token.ts'
import { copyOf } from '../wire/copy.ts'
import { createLru } from './lru.ts'

/** Refused tokens remembered at most, and how long one may be: together no more than 9 MiB. */
const refusedMax = 4_096
const refusedLengthMax = 2_048
/**
 * So much of a token's end, 72 bits of its signature, is what it is found by: to look a text up costs what the
 * text is long, and every request brings one of its own.
 */
const tailLength = 12

interface Verified {
  /** The whole of it: one that only ends as another does is another. */
  readonly token: string
  readonly claims: AccessTokenClaims
}

/**
 * Tokens whose signature was checked: a look-up instead of 73 us for ES256. Cleared when keys change. Those that
 * were refused have a place of their own, so that made-up ones push out none that are right; one that is longer
 * than any of ours is read anew each time.
 */
export function createVerifiedTokens(entriesMax: number): VerifiedTokens & { clear(): void } {
  const verified = createLru<Verified>(entriesMax)
  const refused = createLru<Pick<Verified, 'token'>>(refusedMax)

  return {
    get: (token) => {
      const found = verified.get(tailOf(token))
      return found?.token === token ? found.claims : undefined
    },
    // Texts of their own: a piece of a request's head would keep the whole head in memory.
    set: (token, claims) => verified.set(copyOf(tailOf(token)), { token: copyOf(token), claims }),
    refuse: (token) => {
      if (token.length <= refusedLengthMax) refused.set(copyOf(tailOf(token)), { token: copyOf(token) })
    },
    isRefused: (token) => refused.get(tailOf(token))?.token === token,
    clear: () => {
      verified.clear()
      refused.clear()
    },
  }
}

function tailOf(token: string): string {
  return token.slice(-tailLength)
}
