import type { AccessTokenClaims } from '../tokens/access-token.ts'
import type { Directory } from './principal.ts'
import type { Authentication } from './scheme.ts'

/** How long a decision holds while nothing changes: what was looked up for it is looked up again now and then. */
const rememberedMs = 1_000

interface Decision {
  readonly authentication: Authentication
  /** What had happened to the directory by then. */
  readonly version: number
  readonly until: number
}

/** Who was let in by a token a moment ago, and still is: tokens that come often are looked into once a second. */
export interface RecentDecisions {
  /** undefined where it is to be decided. */
  find(claims: AccessTokenClaims): Authentication | undefined
  /** @param authentication by what the directory says now */
  keep(claims: AccessTokenClaims, authentication: Authentication): void
}

/** Any change of any account or session, and a loss of the store, ends all of them. */
export function createRecentDecisions(
  directory: Pick<Directory, 'version' | 'countHit'>,
  clock: () => number,
): RecentDecisions {
  const decisions = new WeakMap<AccessTokenClaims, Decision>()

  return {
    find: (claims) => {
      const decision = decisions.get(claims)
      if (!decision || decision.version !== directory.version() || clock() >= decision.until) return undefined
      directory.countHit()
      return decision.authentication
    },
    keep: (claims, authentication) => {
      const version = directory.version()
      if (version !== undefined)
        decisions.set(claims, { authentication, version, until: clock() + rememberedMs })
    },
  }
}
