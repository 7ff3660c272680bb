import type { Access } from '../routes/route.ts'
import { authenticate, type Schemes } from './authenticate.ts'
import type { Credential, Credentials } from './credentials.ts'
import type { Decision } from './decision.ts'
import type { Directory } from './principal.ts'

/** Finds out who is calling, request by request. */
export interface Authenticator {
  /** Synchronous where all is known. It throws or rejects only where it cannot be decided. */
  decide(access: Access, credentials: Credentials): Decision | Promise<Decision>
  /**
   * Brings the cache up to date: to be called before a caller is refused for a role or a profile from the cache.
   * @throws GatehouseError `store-unavailable`
   */
  confirm(): Promise<void>
}

type CurrentDirectory = Pick<Directory, 'version' | 'countHit' | 'confirm'>

/** How long a decision is reused; after that the age of the cached account is checked again. */
const decidedMs = 1_000

/**
 * Decides about each credential at most once a second while nothing changes: any change of an account, a session or a
 * signing key, and a loss of the store, ends all earlier decisions.
 */
export function createAuthenticator(
  schemes: Schemes,
  directory: CurrentDirectory,
  clock: () => number,
): Authenticator {
  function decideOnce(access: Access, credential: Credential): Decision | Promise<Decision> {
    const version = directory.version()
    const { recent } = credential
    const now = clock()
    if (recent?.access === access && recent.version === version && now < recent.until) {
      if (recent.decision.kind === 'allowed') directory.countHit()
      return recent.decision
    }
    const decision = authenticate(access, credential, schemes)
    if (version !== undefined && !(decision instanceof Promise) && decision.holdsUntil > 0) {
      const until = Math.min(decision.holdsUntil, now + decidedMs)
      credential.recent = { access, decision, version, until }
    }
    return decision
  }

  return {
    decide: (access, credentials) =>
      credentials.kind === 'secretKey' || credentials.kind === 'bearer'
        ? decideOnce(access, credentials)
        : authenticate(access, credentials, schemes),
    confirm: directory.confirm,
  }
}
