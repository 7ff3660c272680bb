import { type Account, adminRole, emailKey, isActiveAdmin } from '../../account.ts'
import type { Replacement } from '../../account-changes/by-replacing.ts'
import type { AccountCreation, AccountsPage, TermEntry } from '../../accounts.ts'
import { identityKeyOf } from '../../portal-access.ts'
import { termsOf } from '../../search.ts'
import type { Database } from '../database.ts'
import { accountColumns, hasSameIndexes, indexedColumns, toAccount, toRow } from './account-row.ts'
import type { ImportedKeyTable } from './imported-keys.ts'

/** The accounts table, with its indexes. Every function is to be called within a read or a write. */
export function openAccountTable(
  database: Database,
  importedKeys: Pick<ImportedKeyTable, 'update' | 'drop'>,
) {
  const { prepare } = database
  const terms = openTermTable(database)
  const insert = prepare(
    `INSERT INTO accounts (${accountColumns.join(', ')}) VALUES (${accountColumns.map((column) => `:${column}`).join(', ')})`,
  )
  const selectById = prepare('SELECT * FROM accounts WHERE id = ?')
  const selectByEmail = prepare('SELECT * FROM accounts WHERE email_key = ?')
  const selectByIdentity = prepare('SELECT * FROM accounts WHERE identity_key = ?')
  const selectPage = prepare(
    'SELECT * FROM accounts WHERE (created_at, id) < (?, ?) ORDER BY created_at DESC, id DESC LIMIT ?',
  )
  // As literals: only then does SQLite use the index that has only them.
  const selectOtherAdmin = prepare(
    `SELECT id FROM accounts WHERE role = '${adminRole}' AND is_disabled = 0 AND id <> ? LIMIT 1`,
  )
  const remove = prepare('DELETE FROM accounts WHERE id = ?')
  const prepareUpdate = (columns: readonly string[]) =>
    prepare(
      `UPDATE accounts SET ${columns.map((column) => `${column} = :${column}`).join(', ')} WHERE id = :id`,
    )
  const update = prepareUpdate(accountColumns.filter((column) => column !== 'id'))
  // SQLite writes every index anew of which a column is named, even if its value stays.
  const updateUnindexed = prepareUpdate(accountColumns.filter((column) => !indexedColumns.has(column)))
  updateUnindexed.setAllowUnknownNamedParameters(true)

  function find(id: string): Account | undefined {
    const row = selectById.get(id)
    return row && toAccount(row)
  }

  function findByEmail(email: string): Account | undefined {
    const row = selectByEmail.get(emailKey(email))
    return row && toAccount(row)
  }

  function findByIdentity(key: string): Account | undefined {
    const row = selectByIdentity.get(key)
    return row && toAccount(row)
  }

  function create(accounts: readonly Account[]): AccountCreation {
    const emails = takenEmails(accounts.map(({ email }) => email))
    if (emails.length > 0) return { kind: 'exists', emails }
    for (const account of accounts) {
      insert.run(toRow(account))
      terms.add(account)
    }
    return { kind: 'created' }
  }

  /** Those that another account has, or that come a second time. */
  function takenEmails(emails: readonly string[]): readonly string[] {
    const seen = new Set<string>()
    const taken: string[] = []
    for (const email of emails) {
      const key = emailKey(email)
      if (seen.has(key) || findByEmail(email)) taken.push(email)
      seen.add(key)
    }
    return taken
  }

  function save(before: Account, account: Account): Account {
    const statement = hasSameIndexes(before, account) ? updateUnindexed : update
    statement.run(toRow(account))
    terms.update(before, account)
    importedKeys.update(before, account)
    return account
  }

  /** Saves what `transform` returns, if anything. */
  function replace(id: string, transform: (account: Account) => Account | undefined): Replacement {
    const account = find(id)
    if (!account) return { kind: 'unknown' }
    const next = transform(account)
    if (!next) return { kind: 'refused' }
    const holder = next.email === account.email ? undefined : findByEmail(next.email)
    if (holder && holder.id !== id) return { kind: 'exists' }
    if (isIdentityTaken(account, next)) return { kind: 'refused' }
    if (isLastAdmin(account) && !isActiveAdmin(next)) return { kind: 'last-admin' }
    return { kind: 'updated', account: save(account, next) }
  }

  /** Does nothing for most changes, which are not of an identity. */
  function isIdentityTaken(before: Account, { id, portal }: Account): boolean {
    const key = identityKeyOf(portal)
    if (key === undefined || key === identityKeyOf(before.portal)) return false
    const holder = findByIdentity(key)
    return holder !== undefined && holder.id !== id
  }

  /** The transaction has the write lock: nobody changes another Admin before it ends. */
  function isLastAdmin(account: Account): boolean {
    return isActiveAdmin(account) && selectOtherAdmin.get(account.id) === undefined
  }

  function removeOne(id: string): 'deleted' | 'unknown' | 'last-admin' {
    const account = find(id)
    if (!account) return 'unknown'
    if (isLastAdmin(account)) return 'last-admin'
    terms.drop(account)
    importedKeys.drop(account)
    remove.run(id)
    return 'deleted'
  }

  return {
    find,
    findByEmail,
    findByIdentity,
    list: ({ after, limit }: AccountsPage) =>
      selectPage.all(after?.createdAt ?? Number.MAX_SAFE_INTEGER, after?.id ?? '', limit).map(toAccount),
    create,
    remove: removeOne,
    replace,
    findTerms: terms.find,
  }
}

/** The index that accounts are searched by. Every function is to be called within a read or a write. */
function openTermTable({ prepare }: Database) {
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
    const isSame = before.email === after.email && before.firstName === after.firstName
    if (isSame && before.lastName === after.lastName) return
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
