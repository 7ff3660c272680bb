import type { SQLInputValue } from 'node:sqlite'
import { keysOf } from '#platform/json.ts'
import { memoize } from '#platform/memoize.ts'
import { base64url } from '#platform/text.ts'
import { type AnyRecord, type FieldType, recordFields, type StoreRecord } from '../backup/records.ts'
import { bytesOf } from './account-row.ts'

// How the records of a store are kept in tables; accounts have a form of their own (account-row.ts).

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
