import type { AuditEntry, AuditFilter, LoggedAuditEntry } from './audit.ts'
import type { KeyUse, NotedKeyUse } from './key-use.ts'
import type { EmailLink, OneTimeLink, PasswordChange, PortalSession } from './portal-access.ts'
import type { Visitor } from './visitor.ts'

/** The part of the port that the portal, the admin API and the audit log are made on. The same rules hold. */
export interface PortalStore {
  /** `refused`: the proof is not, or no longer, what permits it. */
  setPassword(
    accountId: string,
    change: PasswordChange,
    audit?: AuditEntry,
  ): Promise<'set' | 'refused' | 'unknown'>
  /** The link before it ends; false where there is no such account. */
  setSetupLink(accountId: string, link: OneTimeLink, audit?: AuditEntry): Promise<boolean>
  setEmailLink(accountId: string, link: EmailLink, audit?: AuditEntry): Promise<boolean>
  /** The account has the e-mail of the link from now on, verified; the link is used up. */
  useEmailLink(
    accountId: string,
    use: { readonly digest: string; readonly now: number },
    audit?: AuditEntry,
  ): Promise<'verified' | 'refused' | 'exists' | 'unknown'>

  /**
   * Starts a portal session, unless the account has changed since it was looked at. Those that are over go,
   * and of more than `portalSessionsMax` the oldest.
   */
  startPortalSession(
    session: Omit<PortalSession, 'epoch' | 'seenAt'>,
    looked: { readonly revision: number },
    audit?: AuditEntry,
  ): Promise<'started' | 'account-changed'>
  findPortalSession(accountId: string, id: string): Promise<PortalSession | undefined>
  /** Notes when and from where a session was used, if it is still there; of no use to anybody's safety. */
  seePortalSession(accountId: string, id: string, seen: Visitor & { readonly at: number }): Promise<void>
  /** Those that have not ended, newest first and of one moment by their IDs. */
  listPortalSessions(accountId: string, now: number): Promise<readonly PortalSession[]>
  endPortalSession(accountId: string, id: string, audit?: AuditEntry): Promise<boolean>
  /** Ends all; false where there is no such account. */
  endPortalSessions(accountId: string, audit?: AuditEntry): Promise<boolean>

  /** Ends the previous secret key; false where there is none. */
  endOverlap(accountId: string, now: number, audit?: AuditEntry): Promise<boolean>
  /** Keeps the latest use of each key that an account has now; all others are dropped. */
  noteKeyUses(uses: readonly NotedKeyUse[]): Promise<void>
  /** The latest uses of an account's keys, by digest (base64url). */
  findKeyUses(accountId: string): Promise<ReadonlyMap<string, KeyUse>>

  /** For acts that change no record. */
  appendAudit(entry: AuditEntry): Promise<void>
  /**
   * What passes a filter, newest first, from the one before a position. Looks at some thousands at once: it may find
   * none and yet have more.
   */
  findAudit(page: AuditPage): Promise<FoundAudit>
}

export interface AuditPage {
  readonly filter: AuditFilter
  /** The position of the entry after it; undefined = it begins with the newest. */
  readonly before: string | undefined
  readonly limit: number
}

export interface FoundAudit {
  readonly entries: readonly LoggedAuditEntry[]
  /** Where to go on; undefined = that was all. */
  readonly before: string | undefined
}
