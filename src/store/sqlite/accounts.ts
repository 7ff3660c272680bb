import type { SQLInputValue } from 'node:sqlite'
import { withChanges } from '../account-changes.ts'
import { emailKey } from '../email-key.ts'
import type { Account, AccountChanges, AccountCreation, AccountUpdate, StoredKey } from '../store.ts'
import type { Database } from './database.ts'

const columns = [
  ...[
    'id',
    'email',
    'email_key',
    'first_name',
    'last_name',
    'role',
    'is_verified',
    'is_disabled',
    'created_at',
  ],
  ...['revision', 'session_epoch', 'secret_digest', 'secret_sealed', 'secret_created_at', 'previous_digest'],
  ...['previous_until', 'api_digest', 'api_sealed', 'api_created_at'],
]

/** The accounts table. Every function is to be called within a read or a write. */
export function openAccounts({ prepare }: Database) {
  const insert = prepare(
    `INSERT INTO accounts (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
  )
  const selectById = prepare('SELECT * FROM accounts WHERE id = ?')
  const selectByEmail = prepare('SELECT * FROM accounts WHERE email_key = ?')
  const selectPage = prepare('SELECT * FROM accounts WHERE id > ? ORDER BY id LIMIT ?')
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
    for (const account of accounts) insert.run(...toRow(account))
    return { kind: 'created' }
  }

  function save(account: Account): Account {
    const [id = '', ...values] = toRow(account)
    update.run(...values, id)
    return account
  }

  function change(id: string, changes: AccountChanges): AccountUpdate {
    const account = find(id)
    if (!account) return { kind: 'unknown' }
    const holder = changes.email === undefined ? undefined : findByEmail(changes.email)
    if (holder && holder.id !== id) return { kind: 'exists' }
    return { kind: 'updated', account: save(withChanges(account, changes)) }
  }

  /** Saves what becomes of an account; undefined where there is none. */
  function replace(id: string, become: (account: Account) => Account): Account | undefined {
    const account = find(id)
    return account && save(become(account))
  }

  return {
    find,
    findByEmail,
    list: (after: string, limit: number) => selectPage.all(after, limit).map(toAccount),
    create,
    change,
    remove: (id: string) => Number(remove.run(id).changes) > 0,
    replace,
  }
}

function toRow(account: Account): SQLInputValue[] {
  const { secretKey, previousSecretKey, apiKey } = account
  return [
    ...[
      account.id,
      account.email,
      emailKey(account.email),
      account.firstName,
      account.lastName,
      account.role,
    ],
    ...[Number(account.isVerified), Number(account.isDisabled), account.createdAt],
    ...[account.revision, account.sessionEpoch],
    ...[secretKey.digest, secretKey.sealed ?? null, secretKey.createdAt],
    ...[previousSecretKey?.digest ?? null, previousSecretKey?.validUntil ?? null],
    ...[apiKey.digest, apiKey.sealed ?? null, apiKey.createdAt],
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
    secretKey: toKey(row, 'secret'),
    previousSecretKey: previousDigest && {
      digest: previousDigest,
      validUntil: Number(row.previous_until),
    },
    apiKey: toKey(row, 'api'),
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
