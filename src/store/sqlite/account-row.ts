import type { SQLInputValue } from 'node:sqlite'
import { type Account, emailKey } from '../accounts.ts'
import { parsePortalAccess } from '../portal-access.ts'
import { parseSecretKeyRecord, type SecretKeyRecord, secretKeyRecord } from '../secret-keys.ts'

/** The columns of the accounts table, with what each holds of an account. */
const columns = {
  id: ({ id }) => id,
  email: ({ email }) => email,
  email_key: ({ email }) => emailKey(email),
  first_name: ({ firstName }) => firstName,
  last_name: ({ lastName }) => lastName,
  role: ({ role }) => role,
  is_verified: ({ isVerified }) => Number(isVerified),
  is_disabled: ({ isDisabled }) => Number(isDisabled),
  created_at: ({ createdAt }) => createdAt,
  revision: ({ revision }) => revision,
  session_epoch: ({ sessionEpoch }) => sessionEpoch,
  secret_keys: ({ secretKeys }) => JSON.stringify(secretKeys.map(secretKeyRecord)),
  api_digest: ({ apiKey }) => apiKey.digest,
  api_sealed: ({ apiKey }) => apiKey.sealed ?? null,
  api_created_at: ({ apiKey }) => apiKey.createdAt,
  portal: ({ portal }) => JSON.stringify(portal),
  role_epoch: ({ roleEpoch }) => roleEpoch,
  plan: ({ plan }) => plan ?? null,
  api_last_four: ({ apiKey }) => apiKey.lastFour ?? null,
  managed_by: ({ managedBy }) => managedBy ?? null,
} as const satisfies Readonly<Record<string, (account: Account) => SQLInputValue>>

export const accountColumns: readonly string[] = Object.keys(columns)

/** The columns in indexes of the table. */
const indexed = [
  'id',
  'email_key',
  'first_name',
  'last_name',
  'role',
  'is_disabled',
  'created_at',
  'plan',
] as const satisfies readonly (keyof typeof columns)[]

export const indexedColumns: ReadonlySet<string> = new Set(indexed)

/** Whether two states of an account are the same in these columns, as they are after most changes. */
export function hasSameIndexes(one: Account, other: Account): boolean {
  return indexed.every((column) => columns[column](one) === columns[column](other))
}

/** A row as it is bound to a statement, by the names of its columns. */
export function toRow(account: Account): Record<string, SQLInputValue> {
  return Object.fromEntries(Object.entries(columns).map(([column, read]) => [column, read(account)]))
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
      digest: bytesOf(row.api_digest),
      sealed: row.api_sealed === null ? undefined : bytesOf(row.api_sealed),
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

/** @throws TypeError unless it is a BLOB: an empty digest or seal in its place would hide that the row is damaged */
export function bytesOf(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value
  throw new TypeError(`a BLOB is ${value === null ? 'null' : `a ${typeof value}`}`)
}
