import { setImmediate } from 'node:timers/promises'
import { accountsByReplacing, type Replace, type Replacement } from '../account-changes/by-replacing.ts'
import { search, type TermIndex } from '../account-search.ts'
import {
  type Account,
  type AccountBatch,
  type AccountCreation,
  type AccountDeletion,
  type AccountStore,
  adminRole,
  emailKey,
  isActiveAdmin,
} from '../accounts.ts'
import { type ExternalIdentity, identityKeyOf } from '../portal-access.ts'
import { createIdentityIndex, createImportedKeyIndex, createTermIndex } from './account-indexes.ts'
import { createAccountLists } from './account-lists.ts'
import type { Database } from './database.ts'
import { accountColumns, hasSameIndexes, indexedColumns, toAccount, toAccountRow } from './rows.ts'
import type { Writer } from './writer.ts'

/** How many sessions of a deleted account one step removes, which blocks the event loop for a few milliseconds. */
const removedSessionsMax = 200

/** The verbs, and what other slices need of the accounts. */
export type AccountTable = ReturnType<typeof createAccountStore>

export function createAccountStore(database: Database, { writeAudited, appendAudit }: Writer) {
  const { prepare, read, write, writeLong } = database
  const terms = createTermIndex(database)
  const importedKeys = createImportedKeyIndex(database)
  const identities = createIdentityIndex(database)
  const lists = createAccountLists(database, find)
  const insert = prepare(
    `INSERT INTO accounts (${accountColumns.join(', ')}) VALUES (${accountColumns.map((column) => `:${column}`).join(', ')})`,
  )
  const selectById = prepare('SELECT * FROM accounts WHERE id = ?')
  const selectByEmail = prepare('SELECT * FROM accounts WHERE email_key = ?')
  const selectPage = prepare(
    'SELECT * FROM accounts WHERE (created_at, id) < (?, ?) ORDER BY created_at DESC, id DESC LIMIT ?',
  )
  // Literals, as SQLite only then uses the index that contains only these.
  const selectOtherAdmin = prepare(
    `SELECT id FROM accounts WHERE role = '${adminRole}' AND is_disabled = 0 AND id <> ? LIMIT 1`,
  )
  const prepareUpdate = (columns: readonly string[]) =>
    prepare(
      `UPDATE accounts SET ${columns.map((column) => `${column} = :${column}`).join(', ')} WHERE id = :id`,
    )
  const update = prepareUpdate(accountColumns.filter((column) => column !== 'id'))
  // SQLite rewrites every index with a column that is named, even if its value stays the same.
  const updateUnindexed = prepareUpdate(accountColumns.filter((column) => !indexedColumns.has(column)))
  updateUnindexed.setAllowUnknownNamedParameters(true)
  const remove = prepare('DELETE FROM accounts WHERE id = ?')
  const removeOwned = ['portal_sessions', 'key_uses', 'usage'].map((table) =>
    prepare(`DELETE FROM ${table} WHERE account_id = ?`),
  )
  const removeSessions = prepare(
    'DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE account_id = ? LIMIT ?)',
  )

  /** To be called within a read or a write, like everything that is not a verb. */
  function find(id: string): Account | undefined {
    const row = selectById.get(id)
    return row && toAccount(row)
  }

  function findByEmail(email: string): Account | undefined {
    const row = selectByEmail.get(emailKey(email))
    return row && toAccount(row)
  }

  function findByIdentity(identity: ExternalIdentity): Account | undefined {
    const holder = identities.holderOf(identityKeyOf(identity))
    return holder === undefined ? undefined : find(holder)
  }

  function create(accounts: readonly Account[]): AccountCreation {
    const emails = takenEmails(accounts.map(({ email }) => email))
    if (emails.length > 0) return { kind: 'exists', emails }
    for (const account of accounts) {
      insert.run(toAccountRow(account))
      terms.add(account)
    }
    return { kind: 'created' }
  }

  /** E-mails that another account has, or that occur a second time. */
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

  /** Like `Replace`, within a write. */
  function replaceWithin(id: string, transform: Parameters<Replace>[1]): Replacement {
    const account = find(id)
    if (!account) return { kind: 'unknown' }
    const next = transform(account)
    if (!next) return { kind: 'refused' }
    const holder = next.email === account.email ? undefined : findByEmail(next.email)
    if (holder && holder.id !== id) return { kind: 'exists' }
    if (identities.isTaken(account, next) || importedKeys.isTaken(account, next)) return { kind: 'refused' }
    if (isLastAdmin(account) && !isActiveAdmin(next)) return { kind: 'last-admin' }
    const statement = hasSameIndexes(account, next) ? updateUnindexed : update
    statement.run(toAccountRow(next))
    terms.update(account, next)
    importedKeys.update(account, next)
    identities.update(account, next)
    return { kind: 'updated', account: next }
  }

  /** The transaction has the write lock, so nobody changes another Admin before it ends. */
  function isLastAdmin(account: Account): boolean {
    return isActiveAdmin(account) && selectOtherAdmin.get(account.id) === undefined
  }

  function deleteOne(id: string): AccountDeletion {
    const account = find(id)
    if (account && isLastAdmin(account)) return 'last-admin'
    if (account) {
      terms.drop(account)
      importedKeys.drop(account)
      identities.drop(account)
      remove.run(id)
    }
    for (const statement of removeOwned) statement.run(id)
    return account ? 'deleted' : 'unknown'
  }

  /** @returns whether there may be more */
  function deleteSomeSessions(accountId: string): boolean {
    return removeSessions.run(accountId, removedSessionsMax).changes === removedSessionsMax
  }

  const replace: Replace = (id, transform, audit) =>
    writeAudited(
      () => replaceWithin(id, transform),
      ({ kind }) => (kind === 'updated' ? [{ kind: 'account', accountId: id }] : undefined),
      audit,
    )

  function importBatch({ accounts, audit }: AccountBatch): AccountCreation {
    const creation = create(accounts)
    if (creation.kind === 'created') appendAudit(audit)
    return creation
  }

  const termIndex: TermIndex = {
    find: async (prefix, after, limit) => read(() => terms.find(prefix, after, limit)),
    load: async (ids) => read(() => ids.map(lists.findListed)),
  }

  const verbs: AccountStore = {
    createAccounts: (accounts, audit) =>
      writeAudited(
        () => create(accounts),
        ({ kind }) => (kind === 'created' ? [] : undefined),
        audit,
      ),
    importAccounts: (batches) =>
      writeLong<AccountCreation>(async () => {
        for await (const batch of batches) {
          const creation = read(() => importBatch(batch))
          if (creation.kind === 'exists') return { end: 'undo', result: creation }
        }
        return { end: 'commit', result: { kind: 'created' } }
      }),
    findAccount: async (id) => read(() => find(id)),
    findAccountByEmail: async (email) => read(() => findByEmail(email)),
    listAccounts: async ({ after, limit }) =>
      read(() =>
        selectPage.all(after?.createdAt ?? Number.MAX_SAFE_INTEGER, after?.id ?? '', limit).map(toAccount),
      ),
    filterAccounts: async (page) => read(() => lists.filterAccounts(page)),
    countAccounts: async () => read(lists.count),
    searchAccounts: (page) => search(termIndex, page),
    ...accountsByReplacing(replace),
    deleteAccount: async (id, audit) => {
      let hasMore = false
      const outcome = await writeAudited(
        () => {
          const deleted = deleteOne(id)
          hasMore = deleted !== 'last-admin' && deleteSomeSessions(id)
          return deleted
        },
        (deleted) => (deleted === 'deleted' ? [{ kind: 'account', accountId: id }] : undefined),
        audit,
      )
      // Sessions of a deleted account are invalid; leftovers of a crash are removed later.
      while (hasMore) {
        await setImmediate()
        hasMore = await write(() => deleteSomeSessions(id))
      }
      return outcome
    },
  }

  return { verbs, importedKeys, identities, find, findByIdentity, create, replaceWithin, replace }
}
