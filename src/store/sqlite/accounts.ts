import type { SQLInputValue } from 'node:sqlite'
import { withChanges } from '../account-changes.ts'
import { emailKey } from '../email-key.ts'
import { parsePortalAccess } from '../portal-access.ts'
import type { Replacement } from '../replace-account.ts'
import type {
  Account,
  AccountChanges,
  AccountCreation,
  AccountsPage,
  AccountUpdate,
  StoredKey,
} from '../store.ts'
import type { Database } from './database.ts'
import { openTerms } from './terms.ts'

const columns = [
  'id',
  'email',
  'email_key',
  'first_name',
  'last_name',
  'role',
  'is_verified',
  'is_disabled',
  'created_at',
  'revision',
  'session_epoch',
  'secret_digest',
  'secret_sealed',
  'secret_created_at',
  'previous_digest',
  'previous_until',
  'api_digest',
  'api_sealed',
  'api_created_at',
  'portal',
  'role_epoch',
]

/** The accounts table. Every function is to be called within a read or a write. */
export function openAccounts(database: Database) {
  const { prepare } = database
  const terms = openTerms(database)
  const insert = prepare(
    `INSERT INTO accounts (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
  )
  const selectById = prepare('SELECT * FROM accounts WHERE id = ?')
  const selectByEmail = prepare('SELECT * FROM accounts WHERE email_key = ?')
  const selectPage = prepare(
    'SELECT * FROM accounts WHERE (created_at, id) < (?, ?) ORDER BY created_at DESC, id DESC LIMIT ?',
  )
  const remove = prepare('DELETE FROM accounts WHERE id = ?')
  const update = prepare(
    `UPDATE accounts SET ${columns
      .slice(1)
      .map((column) => `${column} = ?`)
      .join(', ')} WHERE id = ?`,
  )

  function find(id: string): Account | undefined {
    const row = selectById.get(id)
    return row && toAccount(row)
  }

  function findByEmail(email: string): Account | undefined {
    const row = selectByEmail.get(emailKey(email))
    return row && toAccount(row)
  }

  function create(accounts: readonly Account[]): AccountCreation {
    const seen = new Set<string>()
    const emails = accounts
      .map(({ email }) => email)
      .filter((email) => seen.size === seen.add(emailKey(email)).size || findByEmail(email))
    if (emails.length > 0) return { kind: 'exists', emails }
    for (const account of accounts) {
      insert.run(...toRow(account))
      terms.add(account)
    }
    return { kind: 'created' }
  }

  function save(before: Account, account: Account): Account {
    const [id = '', ...values] = toRow(account)
    update.run(...values, id)
    terms.move(before, account)
    return account
  }

  function change(id: string, changes: AccountChanges): AccountUpdate {
    const attempt = tryReplace(id, (account) => withChanges(account, changes))
    return attempt.kind === 'refused' ? { kind: 'unknown' } : attempt
  }

  /** Saves what becomes of an account, if anything. */
  function tryReplace(id: string, become: (account: Account) => Account | undefined): Replacement {
    const account = find(id)
    if (!account) return { kind: 'unknown' }
    const next = become(account)
    if (!next) return { kind: 'refused' }
    const holder = next.email === account.email ? undefined : findByEmail(next.email)
    if (holder && holder.id !== id) return { kind: 'exists' }
    return { kind: 'updated', account: save(account, next) }
  }

  /** The same; undefined where there is no such account, or where it may not become another. */
  function replace(id: string, become: (account: Account) => Account | undefined): Account | undefined {
    const attempt = tryReplace(id, become)
    return attempt.kind === 'updated' ? attempt.account : undefined
  }

  function removeOne(id: string): boolean {
    const account = find(id)
    if (account) terms.drop(account)
    return Number(remove.run(id).changes) > 0
  }

  return {
    find,
    findByEmail,
    list: ({ after, limit }: AccountsPage) =>
      selectPage.all(after?.createdAt ?? Number.MAX_SAFE_INTEGER, after?.id ?? '', limit).map(toAccount),
    create,
    change,
    remove: removeOne,
    replace,
    tryReplace,
    findTerms: terms.find,
  }
}

function toRow(account: Account): SQLInputValue[] {
  const { secretKey, previousSecretKey, apiKey } = account
  return [
    account.id,
    account.email,
    emailKey(account.email),
    account.firstName,
    account.lastName,
    account.role,
    Number(account.isVerified),
    Number(account.isDisabled),
    account.createdAt,
    account.revision,
    account.sessionEpoch,
    secretKey.digest,
    secretKey.sealed ?? null,
    secretKey.createdAt,
    previousSecretKey?.digest ?? null,
    previousSecretKey?.validUntil ?? null,
    apiKey.digest,
    apiKey.sealed ?? null,
    apiKey.createdAt,
    JSON.stringify(account.portal),
    account.roleEpoch,
  ]
}

function toAccount(row: Record<string, unknown>): Account {
  const previousDigest = bytesOf(row.previous_digest)
  return {
    id: String(row.id),
    email: String(row.email),
    firstName: String(row.first_name),
    lastName: String(row.last_name),
    role: String(row.role),
    isVerified: row.is_verified === 1,
    isDisabled: row.is_disabled === 1,
    createdAt: Number(row.created_at),
    revision: Number(row.revision),
    sessionEpoch: Number(row.session_epoch),
    roleEpoch: Number(row.role_epoch),
    secretKey: toKey(row, 'secret'),
    previousSecretKey: previousDigest && {
      digest: previousDigest,
      validUntil: Number(row.previous_until),
    },
    apiKey: toKey(row, 'api'),
    portal: parsePortalAccess(String(row.portal)),
  }
}

function toKey(row: Record<string, unknown>, kind: 'secret' | 'api'): StoredKey {
  return {
    digest: bytesOf(row[`${kind}_digest`]) ?? new Uint8Array(),
    sealed: bytesOf(row[`${kind}_sealed`]),
    createdAt: Number(row[`${kind}_created_at`]),
  }
}

function bytesOf(value: unknown): Uint8Array | undefined {
  return value instanceof Uint8Array ? value : undefined
}
