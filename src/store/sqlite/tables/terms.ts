import type { Account } from '../../account.ts'
import type { TermEntry } from '../../accounts.ts'
import { termsOf } from '../../search.ts'
import type { Database } from '../database.ts'

/** The index that accounts are searched by. Every function is to be called within a read or a write. */
export function openTermTable({ prepare }: Database) {
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

  /** Does nothing for most changes, which are not of a name or e-mail. */
  function update(before: Account, after: Account): void {
    if (termsOf(before).join(' ') === termsOf(after).join(' ')) return
    drop(before)
    add(after)
  }

  function find(prefix: string, after: TermEntry | undefined, limit: number): readonly TermEntry[] {
    // The last code point of all: everything that begins with the prefix sorts before it.
    const end = `${prefix}\u{10ffff}`
    const from = after?.term ?? prefix
    return select
      .all(from, end, from, after?.id ?? '', limit)
      .map(({ term, account_id }) => ({ term: String(term), id: String(account_id) }))
  }

  return { add, drop, update, find }
}
