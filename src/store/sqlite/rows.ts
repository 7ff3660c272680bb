import type { SQLInputValue } from 'node:sqlite'
import { keysOf } from '#platform/json.ts'
import { memoize } from '#platform/memoize.ts'
import { base64url } from '#platform/text.ts'
import { type Account, emailKey } from '../accounts.ts'
import { type AnyRecord, type FieldType, recordFields, type StoreRecord } from '../backup/records.ts'
import { parsePortalAccess } from '../portal-access.ts'
import { parseSecretKeyRecord, type SecretKeyRecord, secretKeyRecord } from '../secret-keys.ts'

// How the records of a store are kept in tables: accounts in a form of their own, all others by their fields.

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
export function toAccountRow(account: Account): Record<string, SQLInputValue> {
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
  // The text was written only by toAccountRow, or by a migration.
  return JSON.parse(String(text)) as readonly SecretKeyRecord[]
}

/** @throws TypeError unless it is a BLOB: an empty digest or seal in its place would hide that the row is damaged */
function bytesOf(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value
  throw new TypeError(`a BLOB is ${value === null ? 'null' : `a ${typeof value}`}`)
}

export type TableKind = Exclude<StoreRecord['kind'], 'store' | 'account'>

/** Which table holds the records of each kind, and the columns whose names differ from their fields. */
const places: { readonly [Kind in TableKind]: Place<keyof (typeof recordFields)[Kind]> } = {
  session: { table: 'sessions', columns: { end: 'end_reason', userAgent: 'client' } },
  portalSession: { table: 'portal_sessions', columns: { userAgent: 'client' } },
  keyUse: { table: 'key_uses' },
  usage: { table: 'usage' },
  activity: { table: 'activity' },
  usagePrincipal: { table: 'usage_principals' },
  quota: { table: 'quotas', columns: { window: 'period' } },
  signingKey: { table: 'signing_keys' },
  blockedSubject: { table: 'blocked_subjects' },
  audit: { table: 'audit' },
  auditChain: { table: 'audit_chains', constants: { entries: 0 } },
}

interface Place<Field extends PropertyKey> {
  readonly table: string
  readonly columns?: Readonly<Partial<Record<Field, string>>>
  /** Columns that correspond to no field. */
  readonly constants?: Readonly<Record<string, number>>
}

export const tableKinds = keysOf(places)

export type Row = Readonly<Record<string, unknown>>

/** @param row from `selectOf` */
export function toRecord<Kind extends TableKind>(kind: Kind, row: Row): AnyRecord<Kind> {
  const values = fieldsOf(kind).map(({ name, type }) => [name, fromColumn(type, row[name])])
  // The cast is sound: the columns of a STRICT table have these types.
  return { kind, ...Object.fromEntries(values) } as AnyRecord<Kind>
}

/** A record without its kind. @param row as for `toRecord` */
export function valuesOf<Kind extends TableKind>(kind: Kind, row: Row): Omit<AnyRecord<Kind>, 'kind'> {
  const { kind: _, ...values } = toRecord(kind, row)
  return values
}

export function toRow({ kind, ...record }: AnyRecord<TableKind>): Record<string, SQLInputValue> {
  const values: Row = record
  return Object.fromEntries(fieldsOf(kind).map(({ name, type }) => [name, toColumn(type, values[name])]))
}

function fromColumn(type: FieldType, value: unknown): unknown {
  if (type === 'bytes') return base64url(bytesOf(value))
  return type === 'object' ? JSON.parse(String(value)) : value
}

function toColumn(type: FieldType, value: unknown): SQLInputValue {
  if (type === 'bytes') return Buffer.from(String(value), 'base64url')
  if (type === 'object') return JSON.stringify(value)
  return typeof value === 'number' || typeof value === 'string' ? value : null
}

const fieldsOf = memoize((kind: TableKind) => {
  const { columns = {} }: Place<string> = places[kind]
  return Object.entries<FieldType>(recordFields[kind]).map(([name, type]) => ({
    name,
    type,
    column: columns[name] ?? name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
  }))
})

/** A SELECT of all fields of a kind. @param rest what follows the name of the table: WHERE, ORDER BY, LIMIT */
export function selectOf(kind: TableKind, rest = ''): string {
  const columns = fieldsOf(kind).map(({ name, column }) => `${column} AS "${name}"`)
  return `SELECT ${columns.join(', ')} FROM ${places[kind].table} ${rest}`
}

/** An INSERT of all columns of a kind, whose parameters are `toRow`. */
export function insertOf(kind: TableKind, verb = 'INSERT'): string {
  const { table, constants = {} }: Place<string> = places[kind]
  const fields = fieldsOf(kind)
  const columns = [...fields.map(({ column }) => column), ...Object.keys(constants)]
  const values = [...fields.map(({ name }) => `:${name}`), ...Object.values(constants)]
  return `${verb} INTO ${table} (${columns.join(', ')}) VALUES (${values.join(', ')})`
}
