import type { Account } from '../account.ts'
import type { TermEntry } from '../accounts.ts'
import { importedDigests, indexChange } from '../imported-keys.ts'
import { termsOf } from '../search.ts'
import type { Database } from './database.ts'

/** The index that accounts are searched by. Every function is to be called within a read or a write. */
export function createTermIndex({ prepare }: Database) {
  const insert = prepare('INSERT OR IGNORE INTO account_terms (term, account_id) VALUES (?, ?)')
  const remove = prepare('DELETE FROM account_terms WHERE term = ? AND account_id = ?')
  const select = prepare(
    `SELECT term, account_id FROM account_terms
     WHERE term >= ? AND term < ? AND (term, account_id) > (?, ?) ORDER BY term, account_id LIMIT ?`,
  )

  function add(account: Account): void {
    for (const term of termsOf(account)) insert.run(term, account.id)
  }

  function drop(account: Account): void {
    for (const term of termsOf(account)) remove.run(term, account.id)
  }

  /** Does nothing unless a name or e-mail has changed, which is rare. */
  function update(before: Account, after: Account): void {
    const isSame = before.email === after.email && before.firstName === after.firstName
    if (isSame && before.lastName === after.lastName) return
    drop(before)
    add(after)
  }

  function find(prefix: string, after: TermEntry | undefined, limit: number): readonly TermEntry[] {
    // The last code point, so that everything with the prefix sorts before it.
    const end = `${prefix}\u{10ffff}`
    const from = after?.term ?? prefix
    return select
      .all(from, end, from, after?.id ?? '', limit)
      .map(({ term, account_id }) => ({ term: String(term), id: String(account_id) }))
  }

  return { add, drop, update, find }
}

/** The index of imported keys. Every function is to be called within a write. */
export function createImportedKeyIndex({ prepare }: Database) {
  const select = prepare('SELECT account_id FROM imported_keys WHERE digest = ?')
  const insert = prepare('INSERT OR REPLACE INTO imported_keys (digest, account_id) VALUES (?, ?)')
  const remove = prepare('DELETE FROM imported_keys WHERE digest = ? AND account_id = ?')

  /** The account that has a key. */
  function holderOf(digest: Uint8Array): string | undefined {
    const row = select.get(digest)
    return row && String(row.account_id)
  }

  /** Whether an account would get a key that another has. */
  function isTaken(before: Account, after: Account): boolean {
    const { added } = indexChange(before, after)
    const holders = added.map((digest) => holderOf(Buffer.from(digest, 'base64url')))
    return holders.some((holder) => holder !== undefined && holder !== after.id)
  }

  function removeEach(accountId: string, digests: readonly string[]): void {
    for (const digest of digests) remove.run(Buffer.from(digest, 'base64url'), accountId)
  }

  /** Does nothing unless imported keys have changed, which is rare. */
  function update(before: Account, after: Account): void {
    const { added, removed } = indexChange(before, after)
    removeEach(before.id, removed)
    for (const digest of added) insert.run(Buffer.from(digest, 'base64url'), after.id)
  }

  return {
    holderOf,
    isTaken,
    update,
    drop: (account: Account) => removeEach(account.id, importedDigests(account)),
  }
}
