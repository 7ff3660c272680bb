import type { SQLInputValue } from 'node:sqlite'
import { type Account, emailKey, type StoredKey } from '../../account.ts'
import { parsePortalAccess } from '../../portal-access.ts'

/** Of the accounts table. */
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
] as const

/** A row as it is bound to a statement, by the names of its columns. */
type Row = Readonly<Record<(typeof accountColumns)[number], SQLInputValue>>

export function toRow(account: Account): Row {
  const { secretKey, previousSecretKey, apiKey } = account
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
    secret_digest: secretKey.digest,
    secret_sealed: secretKey.sealed ?? null,
    secret_created_at: secretKey.createdAt,
    previous_digest: previousSecretKey?.digest ?? null,
    previous_until: previousSecretKey?.validUntil ?? null,
    api_digest: apiKey.digest,
    api_sealed: apiKey.sealed ?? null,
    api_created_at: apiKey.createdAt,
    portal: JSON.stringify(account.portal),
    role_epoch: account.roleEpoch,
  }
}

export function toAccount(row: Record<string, unknown>): Account {
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
