import { type BackupSource, type RecordLine, readBackup } from './backup-file.ts'
import type { StoreRecord } from './records.ts'

/** A backup that was read as a whole, and holds. */
export interface CheckedBackup {
  /** How many accounts it has. */
  readonly accounts: number
  /**
   * What is to be restored: each account once, as it was last, and nothing of those that are gone.
   * @throws as `readBackup`: the file may have been changed since
   */
  records(): AsyncGenerator<readonly StoreRecord[]>
}

/**
 * Reads a backup, and keeps of it only which accounts have changed while it was taken.
 * @param onProgress called with how many accounts were read
 * @throws as `readBackup`
 */
export async function checkBackup(
  source: BackupSource,
  onProgress: (accounts: number) => void,
): Promise<CheckedBackup> {
  /** The line of the last record of each account that has changed. */
  const lastLines = new Map<string, number>()
  const gone = new Set<string>()
  let accounts = 0
  for await (const batch of readBackup(source)) {
    for (const { line, record } of batch) {
      if (record.kind === 'account') accounts++
      if (record.kind === 'changed' || record.kind === 'gone') lastLines.set(record.id, line)
      if (record.kind === 'gone') gone.add(record.id)
    }
    onProgress(accounts)
  }

  /** @returns none where a later record of the account counts, or it is gone */
  function toRestore({ line, record }: RecordLine): readonly StoreRecord[] {
    switch (record.kind) {
      case 'account':
        return lastLines.has(record.id) ? [] : [record]
      case 'changed':
        return lastLines.get(record.id) === line ? [{ ...record, kind: 'account' }] : []
      case 'gone':
        return []
      default:
        return 'accountId' in record && gone.has(record.accountId) ? [] : [record]
    }
  }

  return {
    accounts: accounts - gone.size,
    records: async function* () {
      for await (const batch of readBackup(source)) yield batch.flatMap(toRestore)
    },
  }
}
