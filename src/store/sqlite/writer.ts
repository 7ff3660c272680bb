import type { AuditEntry } from '../audit.ts'
import type { Change, LoggedChange } from '../store.ts'
import { openAudit } from './audit.ts'
import { openChanges } from './changes.ts'
import type { Database } from './database.ts'

/** Writes a change with its entries in the change log and the audit log, in one step. */
export type Writer = ReturnType<typeof openWriter>

export function openWriter(database: Database) {
  const changes = openChanges(database)
  const audit = openAudit(database)
  const listeners: ((change: LoggedChange) => void)[] = []

  /** Writes, logs the change if there is one, and tells the listeners once all is on disk. */
  async function change<Result>(
    work: () => Result,
    describe: (result: Result) => Change | undefined,
    entry?: AuditEntry,
  ): Promise<Result> {
    const { result, logged } = await database.write(() => {
      const result = work()
      const described = describe(result)
      if (described && entry) audit.append([entry])
      return { result, logged: described && changes.append(described, Date.now()) }
    })
    if (logged) for (const listener of listeners) listener(logged)
    return result
  }

  /** Writes data that no cache holds. */
  async function act<Result>(
    work: () => Result,
    isDone: (result: Result) => boolean,
    entries: readonly AuditEntry[] = [],
  ): Promise<Result> {
    return database.write(() => {
      const result = work()
      if (isDone(result)) audit.append(entries)
      return result
    })
  }

  return { changes, audit, change, act, onChange: (listener: Listener) => void listeners.push(listener) }
}

type Listener = (change: LoggedChange) => void
