import type { VerifiedTokens } from '../tokens/access-token.ts'
import type { AccessTokenClaims } from '../tokens/access-token-claims.ts'
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

/** What is known of a token. */
interface Known<Finding> {
  /** The whole of it: one that only ends as another does is another. */
  readonly token: string
  readonly finding: Finding
}

/**
 * Tokens whose signature was checked: a look-up instead of 73 us for ES256. Cleared when keys change. Those that
 * were refused have a place of their own, so that made-up ones push out none that are right; one that is longer
 * than any of ours is read anew each time.
 */
export function createVerifiedTokens(entriesMax: number): VerifiedTokens & { clear(): void } {
  const verified = createLru<Known<AccessTokenClaims>>(entriesMax)
  const refused = createLru<Known<string>>(refusedMax)

  return {
    get: (token) => findingOf(verified.get(tailOf(token)), token),
    // Texts of their own: a piece of a request's head would keep the whole head in memory.
    set: (token, claims) => verified.set(copyOf(tailOf(token)), { token: copyOf(token), finding: claims }),
    refuse: (token, reason) => {
      if (token.length > refusedLengthMax) return
      refused.set(copyOf(tailOf(token)), { token: copyOf(token), finding: reason })
    },
    whyRefused: (token) => findingOf(refused.get(tailOf(token)), token),
    clear: () => {
      verified.clear()
      refused.clear()
    },
  }
}

function tailOf(token: string): string {
  return token.slice(-tailLength)
}

function findingOf<Finding>(known: Known<Finding> | undefined, token: string): Finding | undefined {
  return known?.token === token ? known.finding : undefined
}
