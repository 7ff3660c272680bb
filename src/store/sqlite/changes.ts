import type { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import {
  type ChangeLogReading,
  type ChangeStore,
  changesMax,
  completeSinceOf,
  type LoggedChange,
  parseChange,
} from '../changes.ts'
import { storeUnavailable } from '../store-health.ts'
import type { Database } from './database.ts'
import { watchWal } from './database-files.ts'
import type { Writer } from './writer.ts'

/**
 * Reads the change log.
 * @param listens whether to notice what other processes change; commands need not
 * @throws GatehouseError `store-unavailable` where the database is damaged
 */
export function openChanges(
  { prepare, walPath, read, assertInPlace }: Database,
  { notifyChanged, onChange }: Writer,
  listens: boolean,
): ChangeStore & { close(): void } {
  // Selected separately: SQLite would read the whole table for both bounds in one query, as it finds only one by the
  // index.
  const state = prepare(`SELECT (SELECT id FROM store) AS store,
    (SELECT min(seq) FROM changes) AS first, (SELECT max(seq) FROM changes) AS last`)
  const selectAfter = prepare('SELECT seq, kind, subject, at FROM changes WHERE seq > ? ORDER BY seq')
  const openedStore = read(() => prepare('SELECT id FROM store').get()?.id)
  /** The position up to which changes were announced; undefined before the first reading. */
  let announcedHead: number | undefined
  /** Whether a reading has found changes that were not announced: the watch may be late, or not work. */
  let isBehind = false
  const watch = listens ? watchWal(walPath, announce) : undefined

  /** Announces what is new in the log: the changes of others, and our own once more, as the log has both. */
  function announce(): void {
    const reading = announcedHead === undefined ? undefined : tryReadAfter(announcedHead)
    if (!reading) return
    announcedHead = reading.head
    isBehind = false
    for (const logged of reading.changes ?? []) notifyChanged(logged)
  }

  /** A failure is left to the next reading, which reports it. */
  function tryReadAfter(after: number): ChangeLogReading | undefined {
    try {
      return read(() => readAfter(after))
    } catch {
      return undefined
    }
  }

  /** @throws GatehouseError `store-unavailable` where another store was written over this one */
  function readAfter(after: number | undefined): ChangeLogReading {
    assertInPlace()
    const { store, first, last } = state.get() ?? {}
    if (store !== openedStore) throw otherStoreError()
    const head = Number(last ?? 0)
    if (after === undefined) return readAtStart(head)
    if (after === head) return { head, changes: [], completeSince: 0 }
    // The log is shorter than what was read of it, has too many new entries, or the oldest of these are gone.
    if (after > head || head - after > changesMax || Number(first ?? 0) > after + 1)
      return { head, changes: undefined, completeSince: Date.now() }
    return { head, changes: selectAfter.all(after).flatMap(toLogged), completeSince: 0 }
  }

  function readAtStart(head: number): ChangeLogReading {
    const changes = selectAfter.all(Math.max(0, head - changesMax)).flatMap(toLogged)
    return { head, changes, completeSince: completeSinceOf(head, changes) }
  }

  return {
    readChanges: async (after) => {
      const reading = read(() => readAfter(after))
      announcedHead ??= reading.head
      isBehind = reading.head !== announcedHead
      return reading
    },
    onChange,
    isListening: () => !isBehind && (watch?.isProven() ?? false),
    close: () => watch?.close(),
  }
}

function toLogged({ seq, kind, subject, at }: Record<string, unknown>): LoggedChange[] {
  const change = parseChange(String(kind), String(subject))
  return change ? [{ change, position: Number(seq), at: Number(at) }] : []
}

function otherStoreError(): GatehouseError {
  const message =
    'the database has the data of another store: restore the previous data; or, to use this data, restart the gateway'
  return storeUnavailable('lost', message)
}
