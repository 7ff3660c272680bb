import type { Store } from '../store.ts'
import type { StoreDiagnostics } from '../store-health.ts'
import { createAccountStore } from './accounts.ts'
import { createAuditStore } from './audit.ts'
import { createBackUp } from './backup/read.ts'
import { createRestore } from './backup/restore.ts'
import { openChanges } from './changes.ts'
import type { RedisOptions } from './client.ts'
import { createQuotaStore, createRateStore } from './counters.ts'
import { createKeyStore } from './keys.ts'
import { type Connection, openConnection } from './open-connection.ts'
import { createPortalStore } from './portal.ts'
import { loadScript } from './scripts.ts'
import { createSessionStore } from './sessions.ts'
import { createSigningKeyStore } from './signing-keys.ts'
import { createSubjectStore } from './subjects.ts'
import { createUsageStore } from './usage.ts'

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
  const { replace, ...accounts } = createAccountStore(connection)
  const access = { findAccount: accounts.findAccount, replace }
  const { close: closeChanges, ...changes } = openChanges(connection, options, listens)
  const store = {
    ready: connection.ready,
    ...accounts,
    ...createKeyStore(connection, replace),
    ...createSessionStore(connection, access),
    ...createSigningKeyStore(connection),
    ...createRateStore(connection),
    ...createQuotaStore(connection),
    ...changes,
    ...createAuditStore(connection),
    ...createPortalStore(connection, access),
    ...createUsageStore(connection),
    ...createSubjectStore(connection),
    ...createDiagnostics(connection),
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

function createDiagnostics({ keys, run, runDurably, onWrite }: Connection): StoreDiagnostics {
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
