import { keysByReplacing } from '../account-changes/by-replacing.ts'
import type { ImportedKeyStore, KeyImport } from '../imported-keys.ts'
import { digestText, type SecretKeyAdded } from '../keys.ts'
import type { AccountAccess } from './accounts.ts'
import type { Connection } from './open-connection.ts'

/** How many accounts are changed at a time: each command must be answered in time. */
const accountsAtOnce = 200

/** The index of imported keys: a hash of account IDs by digest, written together with the accounts. */
export function createImportedKeyStore(
  { keys, ask, confirmAbsence }: Connection,
  { replace }: Pick<AccountAccess, 'replace'>,
): ImportedKeyStore {
  const { addSecretKey } = keysByReplacing(replace)

  /** In sequence, as two of one account would conflict. */
  async function importAll(imports: readonly KeyImport[], outcomes: Map<KeyImport, SecretKeyAdded>) {
    for (const imported of imports) outcomes.set(imported, await addSecretKey(imported.accountId, imported))
  }

  return {
    importSecretKeys: async (imports) => {
      await confirmAbsence()
      const outcomes = new Map<KeyImport, SecretKeyAdded>()
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
