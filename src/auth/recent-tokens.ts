import type { Clock } from '../platform/clock.ts'
import { copyString } from '../platform/copy-string.ts'
import type { Directory } from './principal.ts'
import type { Authentication } from './scheme.ts'

/** How long a token is cached at most. */
const cachedMs = 1_000
/** How many are cached at most, and how many characters they have together: some issuers' have several KiB. */
const tokensMax = 10_000
const charactersMax = 16 * 1_024 * 1_024
/** Tokens are found by their last characters, 72 bits of the signature, and then compared. */
const tailLength = 12

export type Authenticated = Extract<Authentication, { readonly kind: 'authenticated' }>

interface CachedToken {
  readonly token: string
  readonly authentication: Authenticated
  /** The version of the directory at the decision. */
  readonly version: object
}

/** Foreign tokens that were accepted a moment ago, and still are: frequent tokens are digested only once a second. */
export interface RecentTokens {
  /** undefined where the token has to be looked up. */
  get(token: string): Authenticated | undefined
  /** @param authentication by the directory's current version */
  set(token: string, authentication: Authenticated): void
}

/** Any change of any account, session or subject, and a loss of the store, invalidates all entries. */
export function createRecentTokens(
  directory: Pick<Directory, 'version' | 'countHit'>,
  clock: Clock,
): RecentTokens {
  const decisions = new Map<string, CachedToken>()
  let characters = 0

  function clear(): void {
    decisions.clear()
    characters = 0
  }

  return {
    get: (token) => {
      const decision = decisions.get(token.slice(-tailLength))
      if (!decision || decision.version !== directory.version() || decision.token !== token) return undefined
      if (clock() >= decision.authentication.holdsUntil) return undefined
      directory.countHit()
      return decision.authentication
    },
    set: (token, authentication) => {
      const version = directory.version()
      const isFull = decisions.size >= tokensMax || characters + token.length > charactersMax
      if (version === undefined || isFull) return
      if (decisions.size === 0) setTimeout(clear, cachedMs).unref()
      characters += token.length
      // Copies: a slice of a request's head would keep the whole head in memory.
      const copy = copyString(token)
      decisions.set(copyString(token.slice(-tailLength)), { token: copy, authentication, version })
    },
  }
}
