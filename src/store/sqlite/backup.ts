import { setImmediate } from 'node:timers/promises'
import { OperatorError } from '#platform/errors/operator-error.ts'
import type { Account } from '../accounts.ts'
import {
  accountOf,
  accountRecord,
  type BackupRecord,
  type BackupStore,
  type RecordOf,
  type Restoration,
  type StoreRecord,
} from '../backup/records.ts'
import { changesMax } from '../changes.ts'
import type { AccountTable } from './accounts.ts'
import type { Database, LongWrite } from './database.ts'
import { hasPrimaryCode } from './database-files.ts'
import {
  insertOf,
  type Row,
  selectOf,
  type TableKind,
  tableKinds,
  toAccount,
  toRecord,
  toRow,
} from './rows.ts'

/** How many records are read at once: this blocks the thread for some milliseconds. */
const batchSize = 500

export function createBackup(database: Database, accounts: AccountTable): BackupStore {
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
      for (const kind of tableKinds) yield* batchesOf(selectAllOf(kind), (row) => toRecord(kind, row))
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
function findUsed({ prepare, read }: Database): TableKind | 'account' | undefined {
  const kinds = ['account', ...tableKinds.filter((kind) => kind !== 'auditChain')] as const
  return read(() =>
    kinds.find((kind) => {
      const sql = kind === 'account' ? 'SELECT id FROM accounts LIMIT 1' : selectOf(kind, 'LIMIT 1')
      return prepare(sql).get() !== undefined
    }),
  )
}

/** @throws OperatorError if the work violates a constraint, such as the uniqueness of a key */
function withoutConflicts(work: () => void): void {
  try {
    work()
  } catch (cause) {
    if (!hasPrimaryCode(cause, 'constraint')) throw cause
    throw new OperatorError(`the backup has records that exclude each other: ${cause.message}`, { cause })
  }
}

/** To be called within a long write. */
function createRestorer({ prepare }: Database, { create, importedKeys, identities }: AccountTable) {
  const inserts = new Map(tableKinds.map((kind) => [kind, prepare(insertRestored(kind))]))
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

  /** Adds a change far ahead of what any process has read of the log, so that all of them drop everything. */
  function end(): void {
    countEntries.run()
    // Receivers of events get nothing of the restored audit log.
    removeReceivers.run()
    const last = Math.max(head, Number(lastChange.get()?.head ?? 0))
    insertChange.run(last + changesMax + 1, 'signing-keys', '', Date.now())
  }

  return { batch, end }
}

function toStore(row: Row): RecordOf<'store'> {
  return { kind: 'store', id: String(row.id), head: Number(row.head ?? 0) }
}

/** Entries in the order of the log. */
function selectAllOf(kind: TableKind): string {
  return selectOf(kind, kind === 'audit' ? 'ORDER BY seq' : '')
}

/**
 * Replaces the rows that exist already: those of the chains, and the last active days, which triggers have written. For
 * all other kinds, a duplicate key is an error.
 */
function insertRestored(kind: TableKind): string {
  return insertOf(kind, kind === 'auditChain' || kind === 'activity' ? 'INSERT OR REPLACE' : 'INSERT')
}
