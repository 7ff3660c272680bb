import type { Database } from '../database.ts'
import { openAccountTable } from './accounts.ts'
import { openAuditTable } from './audit.ts'
import { openChangeTable } from './changes.ts'
import { openImportedKeyTable } from './imported-keys.ts'
import { openKeyUseTable } from './key-uses.ts'
import { openPortalSessionTable } from './portal-sessions.ts'
import { openQuotaTable } from './quotas.ts'
import { openSessionTable } from './sessions.ts'
import { openSigningKeyTable } from './signing-keys.ts'
import { openStoreRow } from './store-row.ts'
import { openSubjectTable } from './subjects.ts'
import { openUsageTable } from './usage.ts'
import { openUsagePrincipalTable } from './usage-principals.ts'

export type Tables = ReturnType<typeof openTables>

/** All tables. @throws as openStoreRow */
export function openTables(database: Database) {
  const importedKeys = openImportedKeyTable(database)
  return {
    accounts: openAccountTable(database, importedKeys),
    importedKeys,
    sessions: openSessionTable(database),
    signingKeys: openSigningKeyTable(database),
    portalSessions: openPortalSessionTable(database),
    keyUses: openKeyUseTable(database),
    usage: openUsageTable(database),
    usagePrincipals: openUsagePrincipalTable(database),
    quotas: openQuotaTable(database),
    subjects: openSubjectTable(database),
    storeRow: openStoreRow(database),
    changes: openChangeTable(database),
    audit: openAuditTable(database),
  }
}
