import type { AuditEntry, AuditFilter, LoggedAuditEntry } from './audit.ts'
import type { AuditChain, AuditClass, ChainedEntry } from './audit-chain.ts'
import type { KeyUse, RecordedKeyUse } from './key-use.ts'
import type {
  AttemptOutcome,
  EmailLink,
  OneTimeLink,
  PasswordAttemptCount,
  PasswordChange,
  PortalSession,
} from './portal-access.ts'
import type { Visitor } from './visitor.ts'

/** The part of the port for the portal, the admin API and the audit log. The same rules hold. */
export interface PortalStore {
  /** `refused`: the proof is not valid, or no longer. */
  setPassword(
    accountId: string,
    change: PasswordChange,
    audit?: AuditEntry,
  ): Promise<'set' | 'refused' | 'unknown'>
  /**
   * Counts an attempt to sign in, before its password is checked.
   * @param client the ID of a known client; undefined = a stranger
   */
  countPasswordAttempt(accountId: string, client: string | undefined): Promise<PasswordAttemptCount>
  /** Takes back what takePasswordAttempt counted, where the password was not wrong. */
  settlePasswordAttempt(accountId: string, outcome: AttemptOutcome, client: string | undefined): Promise<void>
  /** Replaces an earlier link; false where there is no such account. */
  setSetupLink(accountId: string, link: OneTimeLink, audit?: AuditEntry): Promise<boolean>
  setEmailLink(accountId: string, link: EmailLink, audit?: AuditEntry): Promise<boolean>
  /** Sets the account's e-mail to that of the link, verified; the link is used up. */
  redeemEmailLink(
    accountId: string,
    use: { readonly digest: string; readonly now: number },
    audit?: AuditEntry,
  ): Promise<'verified' | 'refused' | 'exists' | 'unknown'>

  /**
   * Starts a portal session, unless the account has changed since `looked` was read. Sessions that are over are
   * removed, and the oldest beyond `portalSessionsMax`.
   */
  startPortalSession(
    session: Omit<PortalSession, 'epoch' | 'seenAt'>,
    expected: { readonly revision: number },
    audit?: AuditEntry,
  ): Promise<'started' | 'account-changed'>
  findPortalSession(accountId: string, id: string): Promise<PortalSession | undefined>
  /** Notes when and from where a session was used, if it still exists; for display only. */
  touchPortalSession(accountId: string, id: string, seen: Visitor & { readonly at: number }): Promise<void>
  /** Those that have not ended, newest first and of one moment by their IDs. */
  listPortalSessions(accountId: string, now: number): Promise<readonly PortalSession[]>
  endPortalSession(accountId: string, id: string, audit?: AuditEntry): Promise<boolean>
  /** Ends all portal sessions; false where there is no such account. */
  endPortalSessions(accountId: string, audit?: AuditEntry): Promise<boolean>

  /** Ends the previous secret key; false where there is none. */
  endOverlap(accountId: string, now: number, audit?: AuditEntry): Promise<boolean>
  /** Stores the latest use of each key that an account has now; all other uses are dropped. */
  recordKeyUses(uses: readonly RecordedKeyUse[]): Promise<void>
  /** The latest uses of an account's keys, by digest (base64url). */
  findKeyUses(accountId: string): Promise<ReadonlyMap<string, KeyUse>>

  /** Adds an entry, for acts that change no record. */
  appendAudit(entry: AuditEntry): Promise<void>
  /**
   * Entries that pass a filter, newest first, starting before a position. It looks at some thousands at once: it may
   * find none and yet there may be more.
   */
  findAudit(page: AuditPage): Promise<FoundAudit>
  /** The ends of the chains of the audit log (audit-chain.ts). */
  readAuditChains(): Promise<readonly AuditChain[]>
  /** Entries of one chain, oldest first. */
  readAuditChain(page: AuditChainPage): Promise<readonly ChainedEntry[]>
  /** Calls the listener with each entry that was written through this port, once it is safe. */
  onAudit(listener: (entry: AuditEntry) => void): void
}

export interface AuditChainPage {
  readonly class: AuditClass
  /** The page begins after this position; undefined = with the oldest. */
  readonly after: string | undefined
  readonly limit: number
}

export interface AuditPage {
  readonly filter: AuditFilter
  /** The page begins with the entry before this position; undefined = with the newest. */
  readonly before: string | undefined
  readonly limit: number
}

export interface FoundAudit {
  readonly entries: readonly LoggedAuditEntry[]
  /** `before` of the next page; undefined = this is the last. */
  readonly before: string | undefined
}
