import type { DatabaseSync } from 'node:sqlite'

/** A transaction; `busy` if another process, or a long write of this one, is writing. */
type Attempt<Result> =
  | { readonly kind: 'written'; readonly result: Result }
  | { readonly kind: 'busy'; readonly cause: unknown }

/**
 * How a transaction ends; `begun` leaves it open. `unsynced` does not wait for the disk in WAL mode; the next synced
 * one makes it durable too.
 */
export type Transaction = 'synced' | 'unsynced' | 'begun'

/** Runs reads and writes as one step. @throws what the work throws, after everything is undone */
export function tryWrite<Result>(
  database: DatabaseSync,
  work: () => Result,
  kind: Transaction,
): Attempt<Result> {
  if (database.isTransaction) return { kind: 'busy', cause: new Error('a long write is in progress') }
  if (kind !== 'unsynced') return tryTransaction(database, work, kind)
  database.exec('PRAGMA synchronous = NORMAL')
  try {
    return tryTransaction(database, work, kind)
  } finally {
    database.exec('PRAGMA synchronous = FULL')
  }
}

function tryTransaction<Result>(
  database: DatabaseSync,
  work: () => Result,
  kind: Transaction,
): Attempt<Result> {
  try {
    // IMMEDIATE: the write lock is taken before anything is read, so nothing read can be outdated.
    database.exec('BEGIN IMMEDIATE')
  } catch (cause) {
    if (isBusy(cause)) return { kind: 'busy', cause }
    throw cause
  }
  try {
    const result = work()
    if (kind !== 'begun') database.exec('COMMIT')
    return { kind: 'written', result }
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK')
    throw error
  }
}

/** The primary code; node:sqlite returns extended codes, whose last byte it is (BUSY_RECOVERY is 261). */
const sqliteBusy = 5

export function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === sqliteBusy
}
