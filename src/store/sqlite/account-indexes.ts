import type { SQLInputValue } from 'node:sqlite'
import { listChange } from '#platform/text.ts'
import { termsOf } from '../account-search.ts'
import type { Account, TermEntry } from '../accounts.ts'
import { importedDigests } from '../keys.ts'
import { identityKeysOf } from '../portal-access.ts'
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

/** The index of imported keys, by digest. Every function is to be called within a write. */
export function createImportedKeyIndex(database: Database) {
  return createHolderIndex(database, {
    table: 'imported_keys',
    column: 'digest',
    valuesOf: importedDigests,
    bind: (digest): Uint8Array => Buffer.from(digest, 'base64url'),
  })
}

/** The index of people at OpenID providers, by `identityKeyOf`. Every function is to be called within a write. */
export function createIdentityIndex(database: Database) {
  return createHolderIndex(database, {
    table: 'account_identities',
    column: 'key',
    valuesOf: identityKeysOf,
    bind: (key) => key,
  })
}

interface HolderIndexOptions<Bound> {
  readonly table: string
  readonly column: string
  /** What only one account can have. */
  readonly valuesOf: (account: Account) => readonly string[]
  readonly bind: (value: string) => Bound
}

function createHolderIndex<Bound extends SQLInputValue>(
  { prepare }: Database,
  { table, column, valuesOf, bind }: HolderIndexOptions<Bound>,
) {
  const select = prepare(`SELECT account_id FROM ${table} WHERE ${column} = ?`)
  const insert = prepare(`INSERT INTO ${table} (${column}, account_id) VALUES (?, ?)`)
  const replace = prepare(`INSERT OR REPLACE INTO ${table} (${column}, account_id) VALUES (?, ?)`)
  const remove = prepare(`DELETE FROM ${table} WHERE ${column} = ? AND account_id = ?`)

  function holderOf(bound: Bound): string | undefined {
    const row = select.get(bound)
    return row && String(row.account_id)
  }

  function removeEach({ id }: Account, values: readonly string[]): void {
    for (const value of values) remove.run(bind(value), id)
  }

  return {
    holderOf,
    /** Whether the change would give an account a value that another has. */
    isTaken: (before: Account, after: Account): boolean => {
      const { added } = listChange(valuesOf(before), valuesOf(after))
      const holders = added.map((value) => holderOf(bind(value)))
      return holders.some((holder) => holder !== undefined && holder !== after.id)
    },
    /** Does nothing unless these values have changed, which is rare. */
    update: (before: Account, after: Account): void => {
      const { added, removed } = listChange(valuesOf(before), valuesOf(after))
      removeEach(before, removed)
      for (const value of added) replace.run(bind(value), after.id)
    },
    /** For an account that is restored. @throws the violated constraint if another account has one of its values */
    add: (account: Account): void => {
      for (const value of valuesOf(account)) insert.run(bind(value), account.id)
    },
    drop: (account: Account): void => removeEach(account, valuesOf(account)),
  }
}
