import { type BigIntStats, type FSWatcher, statSync, utimesSync, watch } from 'node:fs'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { hasErrorCode } from '#platform/errors/operator-error.ts'
import { storeUnavailable } from '../store-failure.ts'

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
