import { monotonicClock } from '#platform/clock.ts'
import { createLocalRates } from '../local-rates.ts'
import type { Store } from '../store.ts'
import { openAccounts } from './accounts.ts'
import { openAudit } from './audit.ts'
import { openBackup } from './backup.ts'
import { openChanges } from './changes.ts'
import { openDatabase } from './database.ts'
import { openImportedKeys } from './imported-keys.ts'
import { openKeys } from './keys.ts'
import { openPortal } from './portal.ts'
import { openQuotas } from './quotas.ts'
import { openSessions } from './sessions.ts'
import { openSigningKeys } from './signing-keys.ts'
import { openSubjects } from './subjects.ts'
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
  const writer = openWriter(database)
  const accounts = openAccounts(database, writer)
  const { close: closeChanges, ...changes } = openChanges(database, writer, listens)
  const probe = database.prepare('UPDATE store SET probed_at = ?')
  return {
    ready: async () => {},
    ...accounts.verbs,
    ...openKeys(database, accounts),
    ...openImportedKeys(database, writer, accounts),
    ...openSessions(database, writer, accounts),
    ...openSigningKeys(database, writer),
    // Counted in this process: there is no other instance.
    takeFromRate: createLocalRates(monotonicClock).take,
    heartbeat: async () => 1,
    ...openQuotas(database),
    ...changes,
    ...openAudit(database, writer),
    ...openPortal(database, writer, accounts),
    ...openUsage(database),
    ...openSubjects(database, writer),
    probeWrite: () => database.write(() => void probe.run(Date.now())),
    onWrite: database.onWrite,
    findRisks: async () => [],
    ...openBackup(database, accounts),
    close: async () => {
      closeChanges()
      database.close()
    },
  }
}
