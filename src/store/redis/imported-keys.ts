import { recordOutcome } from '../account-changes/by-replacing.ts'
import { type ImportedKeyStore, type KeyImport, type KeyImported, withImportedKey } from '../imported-keys.ts'
import { digestText } from '../keys.ts'
import type { AccountAccess } from './accounts.ts'
import type { Connection } from './connection.ts'

/** How many accounts are changed at a time: each command must be answered in time. */
const accountsAtOnce = 200

/** The index of imported keys: a hash of account IDs by digest, written together with the accounts. */
export function createImportedKeyStore(
  { keys, ask, confirmAbsence }: Connection,
  { replace }: Pick<AccountAccess, 'replace'>,
): ImportedKeyStore {
  async function importOne(imported: KeyImport): Promise<KeyImported> {
    const { transform, outcome } = recordOutcome('added', (account) => withImportedKey(account, imported))
    const { kind } = await replace(imported.accountId, transform)
    if (kind === 'unknown') return kind
    // Nothing else of the account is changed: the index has refused it.
    return kind !== 'updated' && outcome() === 'added' ? 'taken' : outcome()
  }

  /** In sequence, as two of one account would conflict. */
  async function importAll(imports: readonly KeyImport[], outcomes: Map<KeyImport, KeyImported>) {
    for (const imported of imports) outcomes.set(imported, await importOne(imported))
  }

  return {
    importSecretKeys: async (imports) => {
      await confirmAbsence()
      const outcomes = new Map<KeyImport, KeyImported>()
      // In order, so that the first of two accounts with the same key gets it.
      const waiting = Map.groupBy(imports, ({ accountId }) => accountId).values()
      const lanes = Array.from({ length: accountsAtOnce }, async () => {
        for (const some of waiting) await importAll(some, outcomes)
      })
      await Promise.all(lanes)
      return imports.map((imported) => outcomes.get(imported) ?? 'unknown')
    },
    findImportedKey: async (digest) => {
      const id = await ask((client) => client.hget(keys.importedKeys, digestText({ digest })))
      return id ?? confirmAbsence()
    },
    hasImportedKeys: async () => {
      const hasAny = (await ask((client) => client.exists(keys.importedKeys))) > 0
      if (!hasAny) await confirmAbsence()
      return hasAny
    },
  }
}
