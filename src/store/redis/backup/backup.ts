import type { BackupStore } from '../../backup/backup-store.ts'
import { openChanges } from '../changes.ts'
import type { RedisOptions } from '../client.ts'
import type { Connection } from '../connection.ts'
import { type BackedUp, createBackUp } from './read.ts'
import { createRestore } from './restore.ts'

export function openBackup(connection: Connection, options: RedisOptions, store: BackedUp): BackupStore {
  return {
    backUp: createBackUp(connection, store, () => openChanges(connection, options, false)),
    restore: createRestore(connection),
  }
}
