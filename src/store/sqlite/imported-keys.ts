import { accountChange } from '../changes.ts'
import { type ImportedKeyStore, type KeyImport, type KeyImported, withImportedKey } from '../imported-keys.ts'
import type { Database } from './database.ts'
import type { Tables } from './tables/tables.ts'
import type { Writer } from './writer.ts'

export function openImportedKeys(
  { read }: Database,
  { writeChanges }: Writer,
  { accounts, importedKeys }: Pick<Tables, 'accounts' | 'importedKeys'>,
): ImportedKeyStore {
  function importOne(imported: KeyImport): KeyImported {
    const { accountId, secretKey } = imported
    const holder = importedKeys.find(secretKey.digest)
    if (holder !== undefined && holder !== accountId) return accounts.find(accountId) ? 'taken' : 'unknown'
    let outcome: KeyImported = 'unknown'
    accounts.replace(accountId, (account) => {
      const next = withImportedKey(account, imported)
      outcome = typeof next === 'string' ? next : 'added'
      return typeof next === 'string' ? undefined : next
    })
    return outcome
  }

  return {
    importSecretKeys: (imports) =>
      writeChanges(
        () => imports.map(importOne),
        (outcomes) => {
          const added = imports.filter((_, index) => outcomes[index] === 'added')
          const ids = [...new Set(added.map(({ accountId }) => accountId))]
          return ids.flatMap((id) => accountChange(id)(true) ?? [])
        },
      ),
    findImportedKey: async (digest) => read(() => importedKeys.find(digest)),
    hasImportedKeys: async () => read(importedKeys.hasAny),
  }
}
