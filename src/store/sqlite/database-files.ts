import { type BigIntStats, closeSync, type FSWatcher, openSync, statSync, utimesSync, watch } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { errorMessage, hasErrorCode, OperatorError } from '#platform/errors/operator-error.ts'
import { makeFolder } from '#platform/files.ts'
import { storeUnavailable } from '../store-health.ts'
import { migrations } from './schema.ts'

/** Opens the file, creates it if there is none, and migrates its data. @throws OperatorError if that fails */
export function connect(path: string, busyTimeoutMs: number): DatabaseSync {
  let database: DatabaseSync | undefined
  try {
    makeFolder(dirname(path))
    makePrivateFile(path)
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
 * Makes the file before SQLite does, with private access: the directory may have existed, and be open to others. An
 * existing file is not opened, as closing it would drop the locks that this process holds on it through another
 * connection (POSIX fcntl).
 */
function makePrivateFile(path: string): void {
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

/** The primary codes; node:sqlite returns extended ones, whose last byte they are (BUSY_RECOVERY is 261). */
const primaryCodes = { busy: 5, constraint: 19 } as const

export function isBusy(error: unknown): boolean {
  return hasPrimaryCode(error, 'busy')
}

export function hasPrimaryCode(error: unknown, code: keyof typeof primaryCodes): error is Error {
  return error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === primaryCodes[code]
}

/**
 * Guards a database and its log. A file that was deleted or replaced stays open and accepts all writes, while others,
 * such as commands, use the file at that path.
 * @param path of a database that is open in WAL mode, so that its log exists
 * @returns a function that checks that the open files are still the ones at their paths. It takes a few microseconds,
 *   and throws GatehouseError `store-unavailable` if one was deleted or replaced, as writes are then lost.
 */
export function guardFiles(path: string): () => void {
  const files = [path, walPathOf(path)].map((name) => ({ name, opened: statFile(name) }))
  return () => {
    for (const { name, opened } of files) {
      const now = statFile(name)
      if (now?.ino !== opened?.ino || now?.dev !== opened?.dev) throw lostError(name, now === undefined)
    }
  }
}

/** SQLite names it after the database. */
export function walPathOf(path: string): string {
  return `${path}-wal`
}

/** As bigints, as inode numbers can have 64 bits. */
function statFile(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true })
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT') || hasErrorCode(error, 'ENOTDIR')) return undefined
    throw new GatehouseError('store-unavailable', { cause: error })
  }
}

function lostError(name: string, isGone: boolean): GatehouseError {
  const what = isGone ? 'was deleted' : 'was replaced'
  const message = `${name} ${what} while the gateway runs, and writes are rejected: restore the file; or, to use the current one, restart the gateway`
  return storeUnavailable('lost', message)
}

/**
 * The minimum time between two calls, so that a process that writes continuously does not make all others read as
 * often.
 */
const gapMs = 2

/**
 * Watches the WAL of a database, which every write is appended to. If files cannot be watched (no inotify instance is
 * left, or a file system without events), it never calls.
 * @param path of the WAL; it must exist
 * @param onWrite called at once, and within 2 ms after further writes
 */
export function watchWal(path: string, onWrite: () => void) {
  let isProven = false
  let calledAt = Number.NEGATIVE_INFINITY
  let pause: NodeJS.Timeout | undefined
  const watcher = openWatcher(path)

  watcher?.on('change', () => {
    isProven = true
    if (pause) return
    const waitMs = calledAt + gapMs - performance.now()
    if (waitMs <= 0) call()
    else pause = setTimeout(call, waitMs).unref()
  })
  watcher?.on('error', close)

  function call(): void {
    pause = undefined
    calledAt = performance.now()
    onWrite()
  }

  function close(): void {
    isProven = false
    clearTimeout(pause)
    watcher?.close()
  }

  return {
    /** Whether it has ever reported a write; if files cannot be watched it never does. */
    isProven: () => isProven,
    close,
  }
}

/**
 * Reports a commit to those who watch the WAL, by touching it: SQLite appends to it before others can read what was
 * written. The owner of the file may set its times, others may not.
 */
export function touchWal(path: string): void {
  const seconds = Date.now() / 1_000
  try {
    utimesSync(path, seconds, seconds)
  } catch {
    // Watchers also read the change log at intervals.
  }
}

function openWatcher(path: string): FSWatcher | undefined {
  try {
    return watch(path, { persistent: false })
  } catch {
    return undefined
  }
}
