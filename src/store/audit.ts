import type { AuditChain, AuditClass, ChainedEntry } from './audit-chain.ts'
import type { AuditEntry, AuditFilter, LoggedAuditEntry } from './audit-entry.ts'

/** The audit log, in two chains (audit-chain.ts). Most entries are written by the verb that they are about. */
export interface AuditStore {
  /** Adds an entry, for actions that change no record. */
  appendAudit(entry: AuditEntry): Promise<void>
  /**
   * Entries that match a filter, newest first, starting before a position. It scans some thousands at once: it may
   * find none although there are more.
   */
  findAudit(page: AuditPage): Promise<FoundAudit>
  /** The ends of the chains. */
  readAuditChains(): Promise<readonly AuditChain[]>
  /** Entries of one chain, oldest first. */
  readAuditChain(page: AuditChainPage): Promise<readonly ChainedEntry[]>
  /** Calls the listener with each entry that was written through this port, once it is safe. */
  onAudit(listener: (entry: AuditEntry) => void): void
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

export interface AuditChainPage {
  readonly class: AuditClass
  /** The page begins after this position; undefined = with the oldest. */
  readonly after: string | undefined
  readonly limit: number
}
