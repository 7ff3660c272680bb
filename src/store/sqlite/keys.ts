import { withAddedKey } from '../account-changes/account-changes.ts'
import { addKeyOutcome, keysByReplacing, recordOutcome } from '../account-changes/by-replacing.ts'
import {
  digestText,
  type ImportedKeyStore,
  type KeyImport,
  type KeyStore,
  type KeyUse,
  type RecordedKeyUse,
  type SecretKeyAdded,
} from '../keys.ts'
import type { AccountTable } from './accounts.ts'
import type { Database } from './database.ts'
import { insertOf, secretKeyRecords, selectOf, toRow } from './rows.ts'
import type { Writer } from './writer.ts'

/** Keys are stored with their account, whose writes also update the index of imported keys; uses in separate rows. */
export function createKeyStore(
  { prepare, read, write }: Database,
  { writeAudited }: Writer,
  { replace, replaceWithin, importedKeys }: AccountTable,
): KeyStore & ImportedKeyStore {
  // Only the needed columns, as hundreds of uses are recorded per second, and should cost next to nothing.
  const selectKeys = prepare('SELECT secret_keys, api_digest FROM accounts WHERE id = ?')
  const selectDigests = prepare('SELECT digest FROM key_uses WHERE account_id = ?')
  const upsert = prepare(
    `${insertOf('keyUse')}
     ON CONFLICT DO UPDATE SET at = excluded.at, address = excluded.address, scheme = excluded.scheme
     WHERE excluded.at > at`,
  )
  const select = prepare(selectOf('keyUse', 'WHERE account_id = ?'))
  const remove = prepare('DELETE FROM key_uses WHERE account_id = ? AND digest = ?')
  const selectAny = prepare('SELECT 1 FROM imported_keys LIMIT 1')

  function importOne(imported: KeyImport): SecretKeyAdded {
    const { transform, outcome } = recordOutcome('added', (account) => withAddedKey(account, imported))
    const { kind } = replaceWithin(imported.accountId, transform)
    return addKeyOutcome(kind, outcome())
  }

  /** Records a use only if the account still has the key; uses of other keys are removed. */
  function record(use: RecordedKeyUse): void {
    const digests = currentKeyDigests(use.accountId)
    if (!digests.includes(use.digest)) return
    const known = selectDigests.all(use.accountId)
    upsert.run(toRow({ kind: 'keyUse', ...use }))
    for (const { digest } of known) {
      if (!digests.includes(String(digest))) remove.run(use.accountId, String(digest))
    }
  }

  function currentKeyDigests(accountId: string): readonly string[] {
    const row = selectKeys.get(accountId)
    if (!row) return []
    const { api_digest: digest } = row
    const apiKey = digest instanceof Uint8Array ? [digestText({ digest })] : []
    return [...apiKey, ...secretKeyRecords(row).map((key) => key.digest)]
  }

  return {
    ...keysByReplacing(replace),
    recordKeyUses: async (uses) => {
      if (uses.length > 0) await write(() => uses.forEach(record))
    },
    findKeyUses: async (accountId) =>
      read(() => new Map(select.all(accountId).map((row) => [String(row.digest), toUse(row)]))),
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

function toUse(row: Record<string, unknown>): KeyUse {
  return {
    at: Number(row.at),
    address: String(row.address),
    scheme: row.scheme === 'accessToken' ? 'accessToken' : 'secretKey',
  }
}
