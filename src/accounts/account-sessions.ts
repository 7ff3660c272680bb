import type { PortalSession } from '../store/portal-access.ts'
import type { Session } from '../store/store.ts'

/** What is signed in with an account. Every act throws GatehouseError `account-not-found` for an ID of nobody. */
export interface AccountSessions {
  /** Sessions of access and refresh tokens that have not ended, newest first. */
  list(id: string): Promise<readonly Session[]>
  /** Ends one with its access tokens; false where this account has no such open session. */
  end(id: string, sessionId: string): Promise<boolean>
  /** @returns the IDs of those that were open */
  endAll(id: string): Promise<readonly string[]>
  /** Browsers that are signed in to the portal, newest first. */
  listPortal(id: string): Promise<readonly PortalSession[]>
  /** False where this account has no such open session. */
  endPortal(id: string, sessionId: string): Promise<boolean>
  endAllPortal(id: string): Promise<readonly string[]>
}
