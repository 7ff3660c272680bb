import type { EpochMs } from '#platform/clock.ts'
import type { AuditEntry } from './audit-entry.ts'

/**
 * What receivers of events have got. The events themselves are the entries of the audit log: whatever a verb writes
 * there with its change is an event, which nothing can lose.
 */
export interface EventStore {
  /** What is kept of each receiver, by its ID. */
  readReceivers(): Promise<ReadonlyMap<string, string>>
  /**
   * Replaces what is kept of a receiver if nobody else has. A crash of the machine, or a failover, may lose the last
   * second.
   * @returns false where it is not `before` any more
   */
  replaceReceiver(replacement: ReceiverReplacement): Promise<boolean>
  /** Entries of both chains of the audit log, oldest first. */
  readAuditAfter(page: {
    /** The page begins after this position; '' = with the oldest. */
    readonly after: string
    readonly limit: number
  }): Promise<readonly PositionedEntry[]>
  /** Adds an entry to the audit log, unless one was added under the same ID before. @returns whether it was added */
  appendAuditOnce(once: {
    readonly id: string
    /** Until when the ID is kept at least. */
    readonly keptUntil: EpochMs
    readonly entry: AuditEntry
  }): Promise<boolean>
}

interface ReceiverReplacement {
  readonly id: string
  /** '' = nothing is kept. */
  readonly before: string
  /** '' = nothing is kept any more. */
  readonly after: string
}

/** An entry as it is stored. */
export interface PositionedEntry {
  /** Later entries have greater positions; also those of the other chain. */
  readonly position: string
  readonly text: string
}
