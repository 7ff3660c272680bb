import type { SQLInputValue } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import { OperatorError } from '#platform/errors/operator-error.ts'
import { keysOf } from '#platform/json.ts'
import type { Account } from '../account.ts'
import {
  type AnyRecord,
  accountOf,
  accountRecord,
  type BackupRecord,
  type BackupStore,
  type FieldType,
  type RecordOf,
  type Restoration,
  recordFields,
  type StoreRecord,
} from '../backup/records.ts'
import { changesMax } from '../changes.ts'
import { bytesOf, toAccount } from './account-row.ts'
import type { AccountTable } from './accounts.ts'
import type { Database, LongWrite } from './database.ts'

/** How many records are read at once: this blocks the thread for some milliseconds. */
const batchSize = 500

type TableKind = Exclude<StoreRecord['kind'], 'store' | 'account'>

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
  audit: { table: 'audit', order: 'seq' },
  auditChain: { table: 'audit_chains', constants: { entries: 0 } },
}

interface Place<Field extends PropertyKey> {
  readonly table: string
  readonly columns?: Readonly<Partial<Record<Field, string>>>
  readonly order?: string
  /** Columns that correspond to no field. */
  readonly constants?: Readonly<Record<string, number>>
}

const tableKinds = keysOf(places)

export function openBackup(database: Database, accounts: AccountTable): BackupStore {
  async function* backUp(): AsyncGenerator<readonly BackupRecord[]> {
    const snapshot = database.openSnapshot()
    const { read } = database
    /** In batches, as the rows of a large database do not fit into memory. */
    async function* batchesOf<Item extends BackupRecord>(sql: string, convert: (row: Row) => Item) {
      const rows = read(() => snapshot.prepare(sql).iterate())
      for (;;) {
        const batch = read(() => nextOf(rows)).map(convert)
        if (batch.length === 0) return
        yield batch
        await setImmediate()
      }
    }
    try {
      yield* batchesOf('SELECT id, (SELECT max(seq) FROM changes) AS head FROM store', toStore)
      yield* batchesOf('SELECT * FROM accounts', (row) => accountRecord(toAccount(row)))
      for (const kind of tableKinds) yield* batchesOf(selectOf(kind), (row) => toRecord(kind, row))
    } finally {
      snapshot.close()
    }
  }

  return {
    backUp,
    restore: (batches) =>
      database.writeLong<Restoration>(async () => {
        const used = findUsed(database)
        if (used) return { end: 'undo', result: { kind: 'used', by: used } }
        const write = createRestorer(database, accounts)
        for await (const batch of batches) {
          database.read(() => withoutConflicts(() => write.batch(batch)))
          await setImmediate()
        }
        database.read(write.end)
        return { end: 'commit', result: { kind: 'restored' } } satisfies LongWrite<Restoration>
      }),
  }
}

function nextOf(rows: Iterator<Row>): readonly Row[] {
  const found: Row[] = []
  while (found.length < batchSize) {
    const { done, value } = rows.next()
    if (done) break
    found.push(value)
  }
  return found
}

/** A kind with at least one record. The chains of the audit log always have a row each. */
function findUsed({ prepare, read }: Database): RecordKindInTables | undefined {
  const kinds = ['account', ...tableKinds.filter((kind) => kind !== 'auditChain')] as const
  const tableOf = (kind: RecordKindInTables) => (kind === 'account' ? 'accounts' : places[kind].table)
  return read(() =>
    kinds.find((kind) => prepare(`SELECT 1 FROM ${tableOf(kind)} LIMIT 1`).get() !== undefined),
  )
}

type RecordKindInTables = TableKind | 'account'

/** The primary code of SQLite (see `isBusy`). */
const sqliteConstraint = 19

/** @throws OperatorError if the work violates a constraint, such as the uniqueness of a key */
function withoutConflicts(work: () => void): void {
  try {
    work()
  } catch (cause) {
    const isConflict =
      cause instanceof Error && 'errcode' in cause && (Number(cause.errcode) & 0xff) === sqliteConstraint
    if (!isConflict) throw cause
    throw new OperatorError(`the backup has records that exclude each other: ${cause.message}`, { cause })
  }
}

/** To be called within a long write. */
function createRestorer(database: Database, { create, importedKeys, identities }: AccountTable) {
  const { prepare } = database
  const inserts = new Map(tableKinds.map((kind) => [kind, prepare(insertOf(kind))]))
  const insertChange = prepare('INSERT INTO changes (seq, kind, subject, at) VALUES (?, ?, ?, ?)')
  const lastChange = prepare('SELECT max(seq) AS head FROM changes')
  const countEntries = prepare(
    'UPDATE audit_chains SET entries = (SELECT count(*) FROM audit WHERE audit.class = audit_chains.class)',
  )
  const removeReceivers = prepare('DELETE FROM event_receivers')
  let head = 0

  function writeAccounts(restored: readonly Account[]): void {
    const creation = create(restored)
    if (creation.kind === 'exists')
      throw new OperatorError(`the backup has several accounts with the e-mail ${creation.emails[0]}`)
    for (const account of restored) {
      importedKeys.add(account)
      identities.add(account)
    }
  }

  function batch(records: readonly StoreRecord[]): void {
    writeAccounts(records.filter((record) => record.kind === 'account').map(accountOf))
    for (const record of records) {
      if (record.kind === 'store') head = record.head
      else if (record.kind !== 'account') inserts.get(record.kind)?.run(toRow(record))
    }
  }

  /** Far ahead of what any process has read of the log, so that all of them drop everything. */
  function end(): void {
    countEntries.run()
    // They get nothing of the restored audit log.
    removeReceivers.run()
    const last = Math.max(head, Number(lastChange.get()?.head ?? 0))
    insertChange.run(last + changesMax + 1, 'signing-keys', '', Date.now())
  }

  return { batch, end }
}

type Row = Readonly<Record<string, unknown>>

function toStore(row: Row): RecordOf<'store'> {
  return { kind: 'store', id: String(row.id), head: Number(row.head ?? 0) }
}

function toRecord<Kind extends TableKind>(kind: Kind, row: Row): AnyRecord<Kind> {
  const values = fieldsOf(kind).map(({ name, type }) => [name, fromColumn(type, row[name])])
  // The cast is sound: the columns of a STRICT table have these types.
  return { kind, ...Object.fromEntries(values) } as AnyRecord<Kind>
}

function toRow({ kind, ...record }: AnyRecord<TableKind>): Record<string, SQLInputValue> {
  const values: Row = record
  return Object.fromEntries(fieldsOf(kind).map(({ name, type }) => [name, toColumn(type, values[name])]))
}

function fromColumn(type: FieldType, value: unknown): unknown {
  if (type === 'bytes') return Buffer.from(bytesOf(value)).toString('base64url')
  return type === 'object' ? JSON.parse(String(value)) : value
}

function toColumn(type: FieldType, value: unknown): SQLInputValue {
  if (type === 'bytes') return Buffer.from(String(value), 'base64url')
  if (type === 'object') return JSON.stringify(value)
  return typeof value === 'number' || typeof value === 'string' ? value : null
}

function fieldsOf(kind: TableKind) {
  const { columns = {} }: Place<string> = places[kind]
  return Object.entries<FieldType>(recordFields[kind]).map(([name, type]) => ({
    name,
    type,
    column: columns[name] ?? name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
  }))
}

function selectOf(kind: TableKind): string {
  const { table, order }: Place<string> = places[kind]
  const columns = fieldsOf(kind).map(({ name, column }) => `${column} AS "${name}"`)
  return `SELECT ${columns.join(', ')} FROM ${table}${order === undefined ? '' : ` ORDER BY ${order}`}`
}

/**
 * Replaces existing rows, as chains and last uses of accounts have some. For all other kinds, a duplicate key is an
 * error.
 */
function insertOf(kind: TableKind): string {
  const { table, constants = {} }: Place<string> = places[kind]
  const fields = fieldsOf(kind)
  const columns = [...fields.map(({ column }) => column), ...Object.keys(constants)]
  const values = [...fields.map(({ name }) => `:${name}`), ...Object.values(constants)]
  const verb = kind === 'auditChain' || kind === 'activity' ? 'INSERT OR REPLACE' : 'INSERT'
  return `${verb} INTO ${table} (${columns.join(', ')}) VALUES (${values.join(', ')})`
}
