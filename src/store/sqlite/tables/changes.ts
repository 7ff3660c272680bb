import type { Change, ChangeLogReading, LoggedChange } from '../../changes.ts'
import { changesMax, parseChange, subjectOf } from '../../changes.ts'
import type { Database } from '../database.ts'

/** The change log: written in the same step as the change itself. */
export function openChangeTable({ prepare }: Database) {
  const insert = prepare('INSERT INTO changes (kind, subject, at) VALUES (?, ?, ?)')
  const prune = prepare('DELETE FROM changes WHERE seq <= ?')
  // Bounds in one query of the table would read all of it: SQLite finds only one by the index.
  const state = prepare(`SELECT (SELECT id FROM store) AS store,
    (SELECT min(seq) FROM changes) AS first, (SELECT max(seq) FROM changes) AS last`)
  const selectAfter = prepare('SELECT seq, kind, subject, at FROM changes WHERE seq > ? ORDER BY seq')

  /** To be called within a write. */
  function append(change: Change, at: number): LoggedChange {
    const { lastInsertRowid } = insert.run(change.kind, subjectOf(change), at)
    const position = Number(lastInsertRowid)
    prune.run(position - changesMax)
    return { change, position, at }
  }

  /**
   * To be called within a read.
   * @param assertSame gets the ID of the store, which is read with the log: a query costs as much as what it reads here
   */
  function readAfter(after: number | undefined, assertSame: (store: unknown) => void): ChangeLogReading {
    const { store, first, last } = state.get() ?? {}
    assertSame(store)
    const head = Number(last ?? 0)
    if (after === undefined) return readAtStart(head)
    if (after === head) return { head, changes: [], completeSince: 0 }
    // The log is shorter than what was read of it, or has too many new entries, or the oldest of these are gone.
    if (after > head || head - after > changesMax || Number(first ?? 0) > after + 1)
      return { head, changes: undefined, completeSince: Date.now() }
    return { head, changes: selectAfter.all(after).flatMap(toLogged), completeSince: 0 }
  }

  function readAtStart(head: number): ChangeLogReading {
    const changes = selectAfter.all(Math.max(0, head - changesMax)).flatMap(toLogged)
    const [oldest] = changes
    const isWhole = oldest === undefined ? head === 0 : oldest.position === 1
    return { head, changes, completeSince: isWhole ? 0 : (oldest?.at ?? Date.now()) }
  }

  return { append, readAfter }
}

function toLogged({ seq, kind, subject, at }: Record<string, unknown>): LoggedChange[] {
  const change = parseChange(String(kind), String(subject))
  return change ? [{ change, position: Number(seq), at: Number(at) }] : []
}
