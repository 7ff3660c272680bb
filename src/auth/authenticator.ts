import type { Access } from '../routes/route.ts'
import { authenticate, type Schemes } from './authenticate.ts'
import type { Credential, Credentials } from './credentials.ts'
import type { Decision } from './decision.ts'
import type { Directory } from './principal.ts'

/** Finds out who is calling, request by request. */
export interface Authenticator {
  /** At once where all is known. It throws or rejects only where it cannot be decided. */
  decide(access: Access, credentials: Credentials): Decision | Promise<Decision>
  /**
   * Brings what is known up to date: to be called before somebody is refused for a role or a profile that was
   * kept. @throws GatehouseError `store-unavailable`
   */
  confirm(): Promise<void>
}

type CurrentDirectory = Pick<Directory, 'version' | 'countHit' | 'confirm'>

/** How long it is not looked at again who somebody is: what was kept of an account has an end that is looked at then. */
const decidedMs = 1_000

/**
 * Decides about each credential once a second, as long as nothing changes: any change of an account, a session or
 * a signing key, and a loss of the store, ends whatever was decided before it.
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
