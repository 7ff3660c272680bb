import type { SQLInputValue } from 'node:sqlite'
import { type Account, emailKey } from '../account.ts'
import { parsePortalAccess } from '../portal-access.ts'
import { parseSecretKeyRecord, type SecretKeyRecord, secretKeyRecord } from '../secret-keys.ts'

/** The columns of the accounts table. */
export const accountColumns = [
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
  'secret_keys',
  'api_digest',
  'api_sealed',
  'api_created_at',
  'portal',
  'role_epoch',
  'plan',
  'api_last_four',
  'managed_by',
] as const

/** The columns in indexes of the table. */
export const indexedColumns: ReadonlySet<(typeof accountColumns)[number]> = new Set([
  'id',
  'email_key',
  'first_name',
  'last_name',
  'role',
  'is_disabled',
  'created_at',
  'plan',
])

/** Whether two states of an account are the same in these columns, as they are after most changes. */
export function hasSameIndexes(one: Account, other: Account): boolean {
  return (
    one.id === other.id &&
    one.email === other.email &&
    one.firstName === other.firstName &&
    one.lastName === other.lastName &&
    one.plan === other.plan &&
    one.role === other.role &&
    one.isDisabled === other.isDisabled &&
    one.createdAt === other.createdAt
  )
}

/** A row as it is bound to a statement, by the names of its columns. */
type Row = Readonly<Record<(typeof accountColumns)[number], SQLInputValue>>

export function toRow(account: Account): Row {
  const { apiKey } = account
  return {
    id: account.id,
    email: account.email,
    email_key: emailKey(account.email),
    first_name: account.firstName,
    last_name: account.lastName,
    role: account.role,
    is_verified: Number(account.isVerified),
    is_disabled: Number(account.isDisabled),
    created_at: account.createdAt,
    revision: account.revision,
    session_epoch: account.sessionEpoch,
    secret_keys: JSON.stringify(account.secretKeys.map(secretKeyRecord)),
    api_digest: apiKey.digest,
    api_sealed: apiKey.sealed ?? null,
    api_created_at: apiKey.createdAt,
    portal: JSON.stringify(account.portal),
    role_epoch: account.roleEpoch,
    plan: account.plan ?? null,
    api_last_four: apiKey.lastFour ?? null,
    managed_by: account.managedBy ?? null,
  }
}

export function toAccount(row: Record<string, unknown>): Account {
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
    secretKeys: secretKeyRecords(row).map(parseSecretKeyRecord),
    apiKey: {
      digest: bytesOf(row.api_digest) ?? new Uint8Array(),
      sealed: bytesOf(row.api_sealed),
      createdAt: Number(row.api_created_at),
      ...(typeof row.api_last_four === 'string' && { lastFour: row.api_last_four }),
    },
    portal: parsePortalAccess(String(row.portal)),
    plan: typeof row.plan === 'string' ? row.plan : undefined,
    ...(typeof row.managed_by === 'string' && { managedBy: row.managed_by }),
  }
}

/** The secret keys in a row that has at least this column. */
export function secretKeyRecords({ secret_keys: text }: Record<string, unknown>): readonly SecretKeyRecord[] {
  // The text was written only by toRow, or by a migration.
  return JSON.parse(String(text)) as readonly SecretKeyRecord[]
}

function bytesOf(value: unknown): Uint8Array | undefined {
  return value instanceof Uint8Array ? value : undefined
}
