import type { EpochMs } from '#platform/time.ts'

/** The log of changes, from which every process learns what its caches must drop. */
export interface ChangeStore {
  /** What has changed since a position of the change log; undefined = the part of the log that a start needs. */
  readChanges(after: number | undefined): Promise<ChangeLogReading>
  /**
   * Reports our own changes before the call resolves, and others' once published; these may be lost: see readChanges.
   * @returns a function that ends it
   */
  onChange(listener: (change: LoggedChange) => void): () => void
  /**
   * Whether changes of others are being announced, as far as known: a connection may be dead without anybody having
   * noticed.
   */
  isListening(): boolean
}

/** What caches must drop. A session changes only once: when it ends. */
export type Change =
  | { readonly kind: 'account'; readonly accountId: string }
  | { readonly kind: 'session'; readonly sessionId: string }
  | { readonly kind: 'signing-keys' }
  /** A principal of a foreign issuer was blocked, or unblocked. */
  | { readonly kind: 'subject'; readonly principalId: string }

/** One entry of the change log. */
export interface LoggedChange {
  readonly change: Change
  /** Its number in the log, from 1. */
  readonly position: number
  /** When it was made, on the clock of this process. */
  readonly at: EpochMs
}

export interface ChangeLogReading {
  /** Position of the last entry. */
  readonly head: number
  /** In order; undefined = the changes in between are unknown: drop everything. */
  readonly changes: readonly LoggedChange[] | undefined
  /** All changes since this time have been read, now or before. */
  readonly completeSince: EpochMs
}

/**
 * How many of the last entries of the change log are kept, and read at once at most: a start reads them all, and a
 * process that is further behind drops its whole cache. Reading them blocks Redis for about 10 ms, and must finish
 * within the time that a request waits even if Redis is busy: otherwise a process could never catch up.
 */
export const changesMax = 2_000

/** When the oldest entry read at a start was made; 0 if it is the first of the log. */
export function completeSinceOf(head: number, [oldest]: readonly LoggedChange[]): EpochMs {
  if (oldest === undefined) return head === 0 ? 0 : Date.now()
  return oldest.position === 1 ? 0 : oldest.at
}

/** What a change is about: an account ID, a session ID, a principal ID, or nothing. */
export function changedIdOf(change: Change): string {
  switch (change.kind) {
    case 'account':
      return change.accountId
    case 'session':
      return change.sessionId
    case 'signing-keys':
      return ''
    case 'subject':
      return change.principalId
    default:
      return change satisfies never
  }
}

/** A change as it was logged; undefined if its kind was introduced by a newer version. */
export function parseChange(kind: string, changedId: string): Change | undefined {
  switch (kind) {
    case 'account':
      return { kind, accountId: changedId }
    case 'session':
      return { kind, sessionId: changedId }
    case 'signing-keys':
      return { kind }
    case 'subject':
      return { kind, principalId: changedId }
    default:
      return undefined
  }
}
