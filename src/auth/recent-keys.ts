import type { Clock } from '../platform/clock.ts'
import { copyString } from '../platform/copy-string.ts'
import { checksumIn, keyLengthMax, keyLengthMin } from '../secrets/keys.ts'
import type { Directory } from './principal.ts'
import type { Authentication } from './scheme.ts'

/** How long a key is cached at most: secrets stay in memory no longer than needed. */
const cachedMs = 1_000
/** How many keys are cached at most. */
const keysMax = 10_000

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
  /** @param authentication by the directory's current version */
  set(text: string, authentication: Authentication): void
}

/** Any change of any account or session, and a loss of the store, invalidates all entries. */
export function createRecentKeys(
  directory: Pick<Directory, 'version' | 'countHit'>,
  clock: Clock,
): RecentKeys {
  /** By the checksum of the key, which is short, and differs between the keys of one account. */
  const decisions = new Map<string, CachedKey>()

  return {
    get: (text) => {
      if (text.length < keyLengthMin || text.length > keyLengthMax) return undefined
      const decision = decisions.get(checksumIn(text))
      if (!decision || decision.version !== directory.version() || !isSame(decision.key, text))
        return undefined
      if (clock() >= decision.authentication.holdsUntil) return undefined
      directory.countHit()
      return decision.authentication
    },
    set: (text, authentication) => {
      const version = directory.version()
      if (version === undefined || decisions.size >= keysMax) return
      if (decisions.size === 0) setTimeout(() => decisions.clear(), cachedMs).unref()
      decisions.set(copyString(checksumIn(text)), { key: copyString(text), authentication, version })
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
