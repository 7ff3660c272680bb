import { createPortalVerbs } from '../portal-verbs.ts'
import type { Store } from '../store.ts'
import { openAccounts } from './accounts.ts'
import { openAudit } from './audit.ts'
import { openChangeLog } from './change-log.ts'
import type { RedisOptions } from './client.ts'
import { openConnection } from './connection.ts'
import { openDiagnostics } from './diagnostics.ts'
import { openKeyUses } from './key-uses.ts'
import { openPortalSessions } from './portal-sessions.ts'
import { openRates } from './rates.ts'
import { openSessions } from './sessions.ts'
import { openSigningKeys } from './signing-keys.ts'

/**
 * The store of many instances: Redis 7 or newer, a single server, with Sentinel, or a Cluster. Connects by itself.
 * @param listens whether to subscribe to the changes of others
 */
export function openRedisStore(options: RedisOptions, { listens }: { readonly listens: boolean }): Store {
  const connection = openConnection(options, listens)
  const { forget, ...sessions } = openSessions(connection)
  const { replace, ...accounts } = openAccounts(connection, forget)
  const changeLog = openChangeLog(connection, options, listens)
  return {
    ready: connection.ready,
    ...accounts,
    ...createPortalVerbs(replace),
    ...openPortalSessions(connection, accounts.findAccount),
    ...openKeyUses(connection),
    ...openAudit(connection),
    ...sessions,
    ...openSigningKeys(connection),
    ...openRates(connection),
    ...openDiagnostics(connection),
    readChanges: changeLog.read,
    onChange: connection.onChange,
    close: async () => {
      changeLog.close()
      await connection.close()
    },
  }
}
