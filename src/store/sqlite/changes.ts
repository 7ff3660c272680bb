import { changesKept, parseChange, subjectOf } from '../changes.ts'
import type { Change, ChangeReading } from '../store.ts'
import type { Database } from './database.ts'

/** The change log: written in the same step as the change itself. */
export function openChanges({ prepare }: Database) {
  const insert = prepare('INSERT INTO changes (kind, subject) VALUES (?, ?)')
  const prune = prepare('DELETE FROM changes WHERE seq <= ?')
  const bounds = prepare('SELECT min(seq) AS first, max(seq) AS last FROM changes')
  const selectAfter = prepare('SELECT kind, subject FROM changes WHERE seq > ? ORDER BY seq')

  /** To be called within a write. */
  function append(change: Change): void {
    const { lastInsertRowid } = insert.run(change.kind, subjectOf(change))
    prune.run(Number(lastInsertRowid) - changesKept)
  }

  /** To be called within a read. */
  function readAfter(after: number | undefined): ChangeReading {
    const { first, last } = bounds.get() ?? {}
    const head = Number(last ?? 0)
    if (after === undefined || after === head) return { head, changes: [] }
    // The log is shorter than what was seen of it, or its oldest unseen entries are gone.
    if (after > head || Number(first ?? 0) > after + 1) return { head, changes: undefined }
    const rows = selectAfter.all(after)
    return {
      head,
      changes: rows.flatMap(({ kind, subject }) => parseChange(String(kind), String(subject)) ?? []),
    }
  }

  return { append, readAfter }
}
