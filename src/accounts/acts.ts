import type { Actor } from '../store/audit.ts'
import type { AccountKeys } from './account-keys.ts'
import type { AccountSearch } from './account-search.ts'
import type { AccountSessions } from './account-sessions.ts'
import type { Accounts } from './accounts.ts'
import type { AuditLog } from './audit-log.ts'
import type { Profile } from './profile.ts'
import type { SetupLinks } from './setup-links.ts'

/**
 * All that can be done to accounts, by one actor: what is done is in the audit log under this name. Whether the
 * actor may is for whoever makes this to decide: one's own account with the ID of the viewer, any account for
 * an Admin.
 */
export interface Acts {
  /** create, createAll (import), find, update (role, verified, disabled …), remove. */
  readonly accounts: Accounts
  readonly search: AccountSearch
  readonly keys: AccountKeys
  readonly sessions: AccountSessions
  readonly profile: Profile
  readonly setupLinks: SetupLinks
  readonly audit: AuditLog
}

export type ActsOf = (by: Actor) => Acts
