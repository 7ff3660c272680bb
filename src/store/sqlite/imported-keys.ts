import { recordOutcome } from '../account-changes/by-replacing.ts'
import { type ImportedKeyStore, type KeyImport, type KeyImported, withImportedKey } from '../imported-keys.ts'
import type { Accounts } from './accounts.ts'
import type { Database } from './database.ts'
import type { Writer } from './writer.ts'

/** Imported keys belong to their account, whose writes also update their index. */
export function createImportedKeyStore(
  { prepare, read }: Database,
  { writeChanges }: Writer,
  { find, replaceWithin }: Accounts,
): ImportedKeyStore {
  const select = prepare('SELECT account_id FROM imported_keys WHERE digest = ?')
  const selectAny = prepare('SELECT 1 FROM imported_keys LIMIT 1')

  function findHolder(digest: Uint8Array): string | undefined {
    const row = select.get(digest)
    return row && String(row.account_id)
  }

  function importOne(imported: KeyImport): KeyImported {
    const { accountId, secretKey } = imported
    const holder = findHolder(secretKey.digest)
    if (holder !== undefined && holder !== accountId) return find(accountId) ? 'taken' : 'unknown'
    const { transform, outcome } = recordOutcome('added', (account) => withImportedKey(account, imported))
    replaceWithin(accountId, transform)
    return outcome()
  }

  return {
    importSecretKeys: (imports) =>
      writeChanges(
        () => imports.map(importOne),
        (outcomes) => {
          const added = imports.filter((_, index) => outcomes[index] === 'added')
          const ids = [...new Set(added.map(({ accountId }) => accountId))]
          return ids.map((accountId) => ({ kind: 'account', accountId }))
        },
      ),
    findImportedKey: async (digest) => read(() => findHolder(digest)),
    hasImportedKeys: async () => read(() => selectAny.get() !== undefined),
  }
}
