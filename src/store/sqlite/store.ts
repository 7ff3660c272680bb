import type { Store } from '../store.ts'
import { openAccounts } from './accounts.ts'
import { openAudit } from './audit.ts'
import { openBackup } from './backup.ts'
import { openChanges } from './changes.ts'
import { openDatabase } from './database.ts'
import { openDiagnostics } from './diagnostics.ts'
import { openImportedKeys } from './imported-keys.ts'
import { openKeys } from './keys.ts'
import { openPortal } from './portal.ts'
import { openQuotas } from './quotas.ts'
import { createRates } from './rates.ts'
import { openSessions } from './sessions.ts'
import { openSigningKeys } from './signing-keys.ts'
import { openSubjects } from './subjects.ts'
import { openTables } from './tables/tables.ts'
import { openUsage } from './usage.ts'
import { openWriter } from './writer.ts'

export interface SqliteOptions {
  readonly path: string
  /** How long to wait for a writer in another process. */
  readonly busyTimeoutMs: number
  /** Whether to notice what other processes change; commands need not. Default: false. */
  readonly listens?: boolean
}

/**
 * The store on one machine: a SQLite file in WAL mode, shared by the gateway and the command line.
 * @throws OperatorError where the file cannot be opened or made
 */
export function openSqliteStore({ path, busyTimeoutMs, listens = false }: SqliteOptions): Store {
  const database = openDatabase(path, busyTimeoutMs)
  const tables = openTables(database)
  const writer = openWriter(database, tables)
  const changeLog = openChanges(database, writer, tables, listens)
  const { replace, ...accounts } = openAccounts(database, writer, tables)
  return {
    ready: async () => {},
    ...accounts,
    ...openKeys(database, tables, replace),
    ...openImportedKeys(database, writer, tables),
    ...openSessions(database, { writer, tables, replace }),
    ...openSigningKeys(database, writer, tables),
    ...createRates(),
    ...openQuotas(database, tables),
    ...changeLog,
    ...openAudit(database, writer, tables),
    ...openPortal(database, { writer, tables, replace }),
    ...openUsage(database, tables),
    ...openSubjects(database, writer, tables),
    ...openDiagnostics(database, tables),
    ...openBackup(database, tables),
    close: async () => {
      changeLog.close()
      database.close()
    },
  }
}
