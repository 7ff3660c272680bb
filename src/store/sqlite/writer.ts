import type { AuditEntry } from '../audit-entry.ts'
import type { Change, LoggedChange } from '../changes.ts'
import type { Database } from './database.ts'
import type { Tables } from './tables/tables.ts'
import { touchWal } from './wal-watch.ts'

/** Writes a change with its entries in the change log and the audit log, in one step. */
export type Writer = ReturnType<typeof openWriter>

export function openWriter(database: Database, { changes, audit }: Pick<Tables, 'changes' | 'audit'>) {
  const listeners: ((change: LoggedChange) => void)[] = []
  const auditListeners: ((entry: AuditEntry) => void)[] = []

  /** Writes, logs the change if there is one, and notifies listeners after the commit. */
  async function writeChange<Result>(
    work: () => Result,
    describe: (result: Result) => Change | undefined,
    entry?: AuditEntry,
  ): Promise<Result> {
    return writeChanges(work, (result) => [describe(result) ?? []].flat(), entry)
  }

  /** The same where one step may change several. */
  async function writeChanges<Result>(
    work: () => Result,
    describe: (result: Result) => readonly Change[],
    entry?: AuditEntry,
  ): Promise<Result> {
    const { result, entries, logged } = await database.write(() => {
      const result = work()
      const described = describe(result)
      const entries = described.length > 0 && entry ? [entry] : []
      audit.append(entries)
      return { result, entries, logged: described.map((one) => changes.append(one, Date.now())) }
    })
    if (logged.length > 0) touchWal(database.walPath)
    notifyAudited(entries)
    for (const change of logged) notifyChanged(change)
    return result
  }

  /** Writes data that no cache holds. */
  async function writeUncached<Result>(
    work: () => Result,
    isDone: (result: Result) => boolean,
    entries: readonly AuditEntry[] = [],
  ): Promise<Result> {
    const { result, written } = await database.write(() => {
      const result = work()
      const written = isDone(result) ? entries : []
      audit.append(written)
      return { result, written }
    })
    notifyAudited(written)
    return result
  }

  function notifyChanged(change: LoggedChange): void {
    for (const listener of listeners) listener(change)
  }

  function notifyAudited(entries: readonly AuditEntry[]): void {
    for (const entry of entries) for (const listener of auditListeners) listener(entry)
  }

  return {
    writeChange,
    writeChanges,
    writeUncached,
    /** To be called with what another process changed. */
    notifyChanged,
    onChange: (listener: Listener) => void listeners.push(listener),
    onAudit: (listener: (entry: AuditEntry) => void) => void auditListeners.push(listener),
  }
}

type Listener = (change: LoggedChange) => void
