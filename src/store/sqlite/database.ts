import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { createWriteListeners } from '../store-health.ts'
import { connect, guardFiles, isBusy, walPathOf } from './database-files.ts'

/** A database file, and the ways to read and write it. */
export type Database = ReturnType<typeof openDatabase>

/** The outcome of work that takes long. */
export interface LongWrite<Result> {
  readonly end: 'commit' | 'undo'
  readonly result: Result
}

/** After how long a write is retried while another process is writing. */
const busyRetryMs = 2

/** Another process is writing. */
interface Busy {
  readonly cause: unknown
  /** Resolves when it is time to retry. */
  readonly pause: Promise<void>
}

/**
 * Opens a database, and creates it and its directory if there is none: opening blocks the thread, waiting for another
 * writer does not.
 * @param busyTimeoutMs how long to wait for a writer in another process
 * @throws OperatorError where the database cannot be opened
 */
export function openDatabase(path: string, busyTimeoutMs: number) {
  const database = connect(path, busyTimeoutMs)
  const assertInPlace = guardFiles(path)
  const { report, onWrite } = createWriteListeners()
  // SQLite would block the thread that serves all requests.
  database.exec('PRAGMA busy_timeout = 0')
  let busy: Busy | undefined

  async function write<Result>(work: () => Result, kind: Transaction): Promise<Result> {
    const deadline = performance.now() + busyTimeoutMs
    for (;;) {
      // All waiting writes share one retry timer: the lock is tried once per pause.
      if (!busy) {
        assertInPlace()
        const attempt = mapSqliteErrors(() => tryWrite(database, work, kind))
        if (attempt.kind === 'written') {
          // Only now is it certain which file was written: it may have been replaced in the meantime.
          assertInPlace()
          return attempt.result
        }
        busy = { cause: attempt.cause, pause: startPause() }
      }
      if (performance.now() >= deadline) throw new GatehouseError('store-unavailable', { cause: busy.cause })
      await busy.pause
    }
  }

  async function writeLong<Result>(work: () => Promise<LongWrite<Result>>): Promise<Result> {
    await write(() => {}, 'begun')
    try {
      const { end, result } = await work()
      mapSqliteErrors(() => database.exec(end === 'commit' ? 'COMMIT' : 'ROLLBACK'))
      assertInPlace()
      return result
    } finally {
      if (database.isTransaction) database.exec('ROLLBACK')
    }
  }

  /**
   * Another connection, which sees the database as it is now for as long as it is open; meanwhile the WAL grows with
   * what others write.
   */
  function openSnapshot() {
    assertInPlace()
    return mapSqliteErrors(() => {
      // Fails if this one is closed.
      database.exec('SELECT 1')
      const reader = new DatabaseSync(path, { readOnly: true, timeout: busyTimeoutMs })
      try {
        // The first read takes the snapshot.
        reader.exec('BEGIN; SELECT 1 FROM store')
      } catch (error) {
        reader.close()
        throw error
      }
      return { prepare: reader.prepare.bind(reader), close: () => reader.close() }
    })
  }

  async function startPause(): Promise<void> {
    await delay(busyRetryMs)
    busy = undefined
  }

  return {
    /** Path of the WAL, which every write is appended to. */
    walPath: walPathOf(path),
    prepare: database.prepare.bind(database),
    /**
     * Runs reads.
     * @throws GatehouseError `store-unavailable` if SQLite fails; what the work itself throws, unchanged
     */
    read: mapSqliteErrors,
    /**
     * Runs reads and writes as one step, at once if no other process is writing; they are on disk once it resolves.
     * @throws as `read`
     */
    write: <Result>(work: () => Result) => report(write(work, 'synced')),
    /**
     * Like `write`, without waiting for the disk: a crash of the process loses nothing, one of the machine the last of
     * these writes. For counts, as SQLite blocks this thread while it waits.
     */
    writeUnsynced: <Result>(work: () => Result) => report(write(work, 'unsynced')),
    /**
     * Like `write`, for work that takes long: in the meantime other processes cannot write, and writes of this one
     * wait. Everything is undone if the work fails, or ends with `undo`.
     */
    writeLong: <Result>(work: () => Promise<LongWrite<Result>>) => report(writeLong(work)),
    openSnapshot,
    /** @throws GatehouseError `store-unavailable` where the file is gone or was replaced */
    assertInPlace,
    onWrite,
    close: () => database.close(),
  }
}

/** Only errors of SQLite become store-unavailable; bugs and malformed records are rethrown. */
function mapSqliteErrors<Result>(work: () => Result): Result {
  try {
    return work()
  } catch (cause) {
    throw isSqliteError(cause) ? new GatehouseError('store-unavailable', { cause }) : cause
  }
}

/** node:sqlite uses the second code for a database, or a statement, that has been closed. */
const sqliteCodes: readonly unknown[] = ['ERR_SQLITE_ERROR', 'ERR_INVALID_STATE']

function isSqliteError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && sqliteCodes.includes(error.code)
}

/** A transaction; `busy` if another process, or a long write of this one, is writing. */
type Attempt<Result> =
  | { readonly kind: 'written'; readonly result: Result }
  | { readonly kind: 'busy'; readonly cause: unknown }

/**
 * How a transaction ends; `begun` leaves it open. `unsynced` does not wait for the disk in WAL mode; the next synced
 * one makes it durable too.
 */
type Transaction = 'synced' | 'unsynced' | 'begun'

/** Runs reads and writes as one step. @throws what the work throws, after everything is undone */
function tryWrite<Result>(database: DatabaseSync, work: () => Result, kind: Transaction): Attempt<Result> {
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
