import { recordOutcome } from '../account-changes/by-replacing.ts'
import { withAddedKey } from '../account-changes/key-changes.ts'
import type { ImportedKeyStore, KeyImport } from '../imported-keys.ts'
import type { SecretKeyAdded } from '../keys.ts'
import type { AccountTable } from './accounts.ts'
import type { Database } from './database.ts'
import type { Writer } from './writer.ts'

/** Imported keys belong to their account, whose writes also update their index. */
export function createImportedKeyStore(
  { prepare, read }: Database,
  { writeAudited }: Writer,
  { importedKeys, replaceWithin }: AccountTable,
): ImportedKeyStore {
  const selectAny = prepare('SELECT 1 FROM imported_keys LIMIT 1')

  function importOne(imported: KeyImport): SecretKeyAdded {
    const { transform, outcome } = recordOutcome('added', (account) => withAddedKey(account, imported))
    const { kind } = replaceWithin(imported.accountId, transform)
    return kind === 'refused' && outcome() === 'added' ? 'taken' : outcome()
  }

  return {
    importSecretKeys: (imports) =>
      writeAudited(
        () => imports.map(importOne),
        (outcomes) => {
          const added = imports.filter((_, index) => outcomes[index] === 'added')
          const ids = [...new Set(added.map(({ accountId }) => accountId))]
          return ids.map((accountId) => ({ kind: 'account', accountId }))
        },
      ),
    findImportedKey: async (digest) => read(() => importedKeys.holderOf(digest)),
    hasImportedKeys: async () => read(() => selectAny.get() !== undefined),
  }
}
