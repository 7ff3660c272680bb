import type { ChangeLogReading, ChangeStore } from '../changes.ts'
import type { Database } from './database.ts'
import type { Tables } from './tables/tables.ts'
import { watchWal } from './wal-watch.ts'
import type { Writer } from './writer.ts'

export interface ChangeLog extends ChangeStore {
  close(): void
}

/** @param listens whether to notice what other processes change; commands need not */
export function openChanges(
  { walPath, read, assertInPlace }: Database,
  { notifyChanged, onChange }: Writer,
  { changes, storeRow }: Pick<Tables, 'changes' | 'storeRow'>,
  listens: boolean,
): ChangeLog {
  /** The position up to which changes were announced; undefined before the first reading. */
  let announcedHead: number | undefined
  /** A reading has found changes that were not announced: the watch may be late, or deaf. */
  let isBehind = false
  const watch = listens ? watchWal(walPath, announce) : undefined

  const readAfter = (after: number | undefined): ChangeLogReading =>
    read(() => {
      assertInPlace()
      return changes.readAfter(after, storeRow.assertSame)
    })

  /** Own changes are announced once more, as theirs is the same log. */
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
      return readAfter(after)
    } catch {
      return undefined
    }
  }

  return {
    readChanges: async (after) => {
      const reading = readAfter(after)
      announcedHead ??= reading.head
      isBehind = reading.head !== announcedHead
      return reading
    },
    onChange,
    isListening: () => !isBehind && (watch?.isProven() ?? false),
    close: () => watch?.close(),
  }
}
