import type { StoreDiagnostics } from '../diagnostics.ts'
import type { Store } from '../store.ts'
import { openAccounts } from './accounts.ts'
import { openAudit } from './audit.ts'
import { createBackUp } from './backup/read.ts'
import { createRestore } from './backup/restore.ts'
import { openChanges } from './changes.ts'
import type { RedisOptions } from './client.ts'
import { type Connection, openConnection } from './connection.ts'
import { openImportedKeys } from './imported-keys.ts'
import { openKeys } from './keys.ts'
import { openPortal } from './portal.ts'
import { openQuotas } from './quotas.ts'
import { openRates } from './rates.ts'
import { loadScript } from './scripts.ts'
import { openSessions } from './sessions.ts'
import { openSigningKeys } from './signing-keys.ts'
import { openSubjects } from './subjects.ts'
import { openUsage } from './usage.ts'

const probeScript = loadScript('probe-write')
const memoryScript = loadScript('read-memory-info')

/** TTL of the probe's key. */
const probeTtlMs = 60_000

/**
 * The store of many instances: Redis 7 or newer, a single server, with Sentinel, or a Cluster. Connects by itself.
 * @param listens whether to subscribe to the changes of others
 */
export function openRedisStore(options: RedisOptions, { listens }: { readonly listens: boolean }): Store {
  const connection = openConnection(options, listens)
  const { replace, ...accounts } = openAccounts(connection)
  const access = { findAccount: accounts.findAccount, replace }
  const { close: closeChanges, ...changes } = openChanges(connection, options, listens)
  const store = {
    ready: connection.ready,
    ...accounts,
    ...openKeys(connection, replace),
    ...openImportedKeys(connection, access),
    ...openSessions(connection, access),
    ...openSigningKeys(connection),
    ...openRates(connection),
    ...openQuotas(connection),
    ...changes,
    ...openAudit(connection),
    ...openPortal(connection, access),
    ...openUsage(connection),
    ...openSubjects(connection),
    ...openDiagnostics(connection),
    close: async () => {
      closeChanges()
      await connection.close()
    },
  }
  return {
    ...store,
    backUp: createBackUp(connection, store, () => openChanges(connection, options, false)),
    restore: createRestore(connection),
  }
}

function openDiagnostics({ keys, run, runDurably, onWrite }: Connection): StoreDiagnostics {
  return {
    onWrite,
    probeWrite: async () => {
      await runDurably(probeScript, [keys.writeProbe, keys.storeId], [probeTtlMs])
    },
    findRisks: async () => {
      const [, policy] =
        /^maxmemory_policy:(\S+)/m.exec(String(await run(memoryScript, [keys.storeId], []))) ?? []
      if (policy === undefined || policy === 'noeviction') return []
      return [
        `Redis has maxmemory-policy ${policy}: when memory runs out it evicts accounts and sessions; set noeviction`,
      ]
    },
  }
}
