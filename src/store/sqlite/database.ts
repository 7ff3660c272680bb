import { closeSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { errorMessage, hasErrorCode, OperatorError } from '#platform/errors/operator-error.ts'
import { makeFolder } from '#platform/files.ts'
import { createWriteListeners, type StoreDiagnostics } from '../diagnostics.ts'
import { guardFiles, walPathOf } from './database-files.ts'
import { migrations } from './schema.ts'
import { isBusy, type Transaction, tryWrite } from './transaction.ts'

/** A database file, and the ways to read and write it. */
export interface Database {
  /** Path of the WAL, which every write is appended to. */
  readonly walPath: string
  prepare: DatabaseSync['prepare']
  /** Runs reads. @throws GatehouseError `store-unavailable` if SQLite fails; what the work itself throws, unchanged */
  read<Result>(work: () => Result): Result
  /**
   * Runs reads and writes as one step, at once if no other process is writing; they are on disk once it resolves.
   * @throws as `read`
   */
  write<Result>(work: () => Result): Promise<Result>
  /**
   * Like `write`, without waiting for the disk: a crash of the process loses nothing, one of the machine the last of
   * these writes. For counts, as SQLite blocks this thread while it waits.
   */
  writeUnsynced<Result>(work: () => Result): Promise<Result>
  /**
   * Like `write`, for work that takes long: in the meantime other processes cannot write, and writes of this one wait.
   * Everything is undone if the work fails, or ends with `undo`.
   */
  writeLong<Result>(work: () => Promise<LongWrite<Result>>): Promise<Result>
  /**
   * Another connection, which sees the database as it is now for as long as it is open; meanwhile the WAL grows with
   * what others write.
   */
  openSnapshot(): Snapshot
  /** @throws GatehouseError `store-unavailable` where the file is gone or was replaced */
  readonly assertInPlace: () => void
  readonly onWrite: StoreDiagnostics['onWrite']
  close(): void
}

type Snapshot = Pick<Database, 'prepare' | 'close'>

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
 * Opens a database, and creates it and its directory if there is none: this blocks the thread, writes do not.
 * @param busyTimeoutMs how long to wait for a writer in another process
 * @throws OperatorError where the database cannot be opened
 */
export function openDatabase(path: string, busyTimeoutMs: number): Database {
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
          // Only now does it show in which file it was written.
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

  function openSnapshot(): Snapshot {
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
    walPath: walPathOf(path),
    prepare: database.prepare.bind(database),
    read: mapSqliteErrors,
    write: (work) => report(write(work, 'synced')),
    writeUnsynced: (work) => report(write(work, 'unsynced')),
    writeLong: (work) => report(writeLong(work)),
    openSnapshot,
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

function connect(path: string, busyTimeoutMs: number): DatabaseSync {
  let database: DatabaseSync | undefined
  try {
    makeFolder(dirname(path))
    createPrivateFile(path)
    database = new DatabaseSync(path, { timeout: busyTimeoutMs })
    enableWal(database, performance.now() + busyTimeoutMs)
    migrate(database, path)
    return database
  } catch (cause) {
    // A process that cannot use the database must not keep it locked for others.
    database?.close()
    if (cause instanceof OperatorError) throw cause
    throw new OperatorError(`cannot open the database ${path}: ${errorMessage(cause)}`, {
      hint: isBusy(cause)
        ? 'Another process is writing to it: try again, or choose another file with store.sqlite.path.'
        : 'Its folder must be writable, and the file must be a Gatehouse database; see store.sqlite.path.',
      cause,
    })
  }
}

/**
 * Creates the file before SQLite does, with private access: the directory may have existed, and be open to others. An
 * existing file is not opened, as closing it would drop the locks that this process holds on it through another
 * connection (POSIX fcntl).
 */
function createPrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'ax', 0o600))
  } catch (error) {
    if (!hasErrorCode(error, 'EEXIST')) throw error
    // SQLite would only say that it cannot open it.
    if (statSync(path).isDirectory()) throw new Error('it is a folder')
  }
}

/**
 * The size that the WAL is truncated to after a checkpoint without readers, by the second write after that. SQLite
 * begins to copy at 1,000 pages, which is about as much.
 */
const logBytesMax = 4 * 1_024 * 1_024

/** Switching to WAL does not wait for other processes, so an empty write waits for them and it is retried. */
function enableWal(database: DatabaseSync, deadline: number): void {
  // FULL: an acknowledged commit is on disk, even after a power failure. Without a limit, a log that has grown during a
  // long read would never shrink again.
  const settings = `PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA journal_size_limit = ${logBytesMax}`
  for (;;) {
    try {
      database.exec(settings)
      return
    } catch (error) {
      if (!isBusy(error) || performance.now() >= deadline) throw error
    }
    database.exec('BEGIN IMMEDIATE; ROLLBACK')
  }
}

function migrate(database: DatabaseSync, path: string): void {
  database.exec('BEGIN IMMEDIATE')
  const version = Number(database.prepare('PRAGMA user_version').get()?.user_version)
  if (version > migrations.length) {
    throw new OperatorError(`the database ${path} was created by a newer version of Gatehouse`, {
      hint: 'Run that version, or choose another database with store.sqlite.path.',
    })
  }
  if (version === 0) assertEmpty(database, path)
  if (version < migrations.length) {
    for (const step of migrations.slice(version)) step(database)
    database.exec(`PRAGMA user_version = ${migrations.length}`)
  }
  database.exec('COMMIT')
}

/** Rejects the database of another program: our tables must not be mixed with its own. */
function assertEmpty(database: DatabaseSync, path: string): void {
  if (database.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined) return
  throw new OperatorError(`${path} is not a Gatehouse database`, {
    hint: 'Choose another file with store.sqlite.path.',
  })
}
