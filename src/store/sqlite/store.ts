import { monotonicClock } from '#platform/time.ts'
import { createLocalRates } from '../local-rates.ts'
import type { Store } from '../store.ts'
import { createAccountStore } from './accounts.ts'
import { createAuditStore } from './audit.ts'
import { createBackup } from './backup.ts'
import { openChanges } from './changes.ts'
import { openDatabase } from './database.ts'
import { createKeyStore } from './keys.ts'
import { createPortalStore } from './portal.ts'
import { createQuotaStore } from './quotas.ts'
import { createSessionStore } from './sessions.ts'
import { createSigningKeyStore } from './signing-keys.ts'
import { createSubjectStore } from './subjects.ts'
import { createUsageStore } from './usage.ts'
import { createWriter } from './writer.ts'

export interface SqliteOptions {
  readonly path: string
  /** How long to wait for a writer in another process. */
  readonly busyTimeoutMs: number
  /** Whether to notice what other processes change; commands need not. Default: false. */
  readonly listens?: boolean
}

/**
 * The store on one machine: a SQLite file in WAL mode, shared by the gateway and the command line.
 * @throws OperatorError if the file cannot be opened or created
 */
export function openSqliteStore({ path, busyTimeoutMs, listens = false }: SqliteOptions): Store {
  const database = openDatabase(path, busyTimeoutMs)
  const writer = createWriter(database)
  const accounts = createAccountStore(database, writer)
  const { close: closeChanges, ...changes } = openChanges(database, writer, listens)
  const probe = database.prepare('UPDATE store SET probed_at = ?')
  return {
    ready: async () => {},
    ...accounts.verbs,
    ...createKeyStore(database, writer, accounts),
    ...createSessionStore(database, writer, accounts),
    ...createSigningKeyStore(database, writer),
    // Counted in this process: there is no other instance.
    takeFromRate: createLocalRates(monotonicClock).take,
    heartbeat: async () => 1,
    ...createQuotaStore(database),
    ...changes,
    ...createAuditStore(database, writer),
    ...createPortalStore(database, writer, accounts),
    ...createUsageStore(database),
    ...createSubjectStore(database, writer),
    probeWrite: () => database.write(() => void probe.run(Date.now())),
    onWrite: database.onWrite,
    findRisks: async () => [],
    ...createBackup(database, accounts),
    close: async () => {
      closeChanges()
      database.close()
    },
  }
}
