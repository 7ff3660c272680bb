import type { Account } from '../../account.ts'
import { importedDigests, indexChange } from '../../imported-keys.ts'
import type { Database } from '../database.ts'

/** The index of imported keys. Every function is to be called within a read or a write. */
export function openImportedKeyTable({ prepare }: Database) {
  const select = prepare('SELECT account_id FROM imported_keys WHERE digest = ?')
  const selectAny = prepare('SELECT 1 FROM imported_keys LIMIT 1')
  const insert = prepare('INSERT OR REPLACE INTO imported_keys (digest, account_id) VALUES (?, ?)')
  const remove = prepare('DELETE FROM imported_keys WHERE digest = ? AND account_id = ?')

  function removeEach(accountId: string, digests: readonly string[]): void {
    for (const digest of digests) remove.run(Buffer.from(digest, 'base64url'), accountId)
  }

  /** Does nothing for most changes, which are not of imported keys. */
  function update(before: Account, after: Account): void {
    const { added, removed } = indexChange(before, after)
    removeEach(before.id, removed)
    for (const digest of added) insert.run(Buffer.from(digest, 'base64url'), after.id)
  }

  function find(digest: Uint8Array): string | undefined {
    const row = select.get(digest)
    return row && String(row.account_id)
  }

  return {
    find,
    hasAny: () => selectAny.get() !== undefined,
    update,
    drop: (account: Account) => removeEach(account.id, importedDigests(account)),
  }
}

export type ImportedKeyTable = ReturnType<typeof openImportedKeyTable>
