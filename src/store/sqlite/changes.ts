import type { ChangeStore } from '../changes.ts'
import type { Database } from './database.ts'
import type { Tables } from './tables/tables.ts'
import type { Writer } from './writer.ts'

export function openChanges(
  { read, assertInPlace }: Database,
  { onChange }: Writer,
  { changes, storeRow }: Pick<Tables, 'changes' | 'storeRow'>,
): ChangeStore {
  return {
    readChanges: async (after) =>
      read(() => {
        assertInPlace()
        return changes.readAfter(after, storeRow.assertSame)
      }),
    onChange,
    isListening: () => false,
  }
}
