import { copyString } from '../platform/copy-string.ts'
import { accountIdOf, keyLengthMax, keyLengthMin } from '../secrets/keys.ts'
import type { Directory } from './principal.ts'
import type { Authentication } from './scheme.ts'

/** How long a key is cached at most: secrets stay in memory no longer than needed. */
const cachedMs = 1_000
/** How many accounts are cached at most. */
const accountsMax = 10_000

interface CachedKey {
  readonly key: string
  readonly authentication: Authentication
  /** The version of the directory at the decision. */
  readonly version: object
}

/** Secret keys that were accepted a moment ago, and still are: frequent keys are digested only once a second. */
export interface RecentKeys {
  /** undefined where the key has to be verified. */
  get(text: string): Authentication | undefined
  /** @param authentication by the directory's current version, and not only valid for a time */
  set(text: string, authentication: Authentication): void
}

/** Any change of any account or session, and a loss of the store, invalidates all entries. */
export function createRecentKeys(directory: Pick<Directory, 'version' | 'countHit'>): RecentKeys {
  const decisions = new Map<string, CachedKey>()

  return {
    get: (text) => {
      if (text.length < keyLengthMin || text.length > keyLengthMax) return undefined
      const decision = decisions.get(accountIdOf(text))
      if (!decision || decision.version !== directory.version() || !isSame(decision.key, text))
        return undefined
      directory.countHit()
      return decision.authentication
    },
    set: (text, authentication) => {
      const version = directory.version()
      if (version === undefined || decisions.size >= accountsMax) return
      if (decisions.size === 0) setTimeout(() => decisions.clear(), cachedMs).unref()
      decisions.set(copyString(accountIdOf(text)), { key: copyString(text), authentication, version })
    },
  }
}

/** Compares two keys in constant time: isSameText without its buffers, as this is done for every request. */
function isSame(one: string, other: string): boolean {
  const { length } = one
  if (other.length !== length) return false
  let difference = 0
  for (let index = 0; index < length; index++) difference |= one.charCodeAt(index) ^ other.charCodeAt(index)
  return difference === 0
}
