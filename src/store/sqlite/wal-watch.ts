import { type FSWatcher, utimesSync, watch } from 'node:fs'

/** Tells when the database may have been written to, by any process. */
export interface WalWatch {
  /** Whether it has told of one: where files cannot be watched it never does. */
  isProven(): boolean
  close(): void
}

/** The minimum time between two calls: a process that writes all the time must not have all others read as often. */
const gapMs = 2

/**
 * Watches the WAL of a database, which every write is appended to. Where files cannot be watched (no inotify
 * instance is left, or a file system without events) it never calls.
 * @param path of the WAL; it must exist
 * @param onWrite called at once, and within 2 ms after further writes
 */
export function watchWal(path: string, onWrite: () => void): WalWatch {
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

  return { isProven: () => isProven, close }
}

/**
 * Tells those who watch the WAL of a commit, by its times: SQLite appends to it before others can read what was written.
 * The owner of the file may set them, others need not.
 */
export function touchWal(path: string): void {
  const seconds = Date.now() / 1_000
  try {
    utimesSync(path, seconds, seconds)
  } catch {
    // Who watches it reads the change log at intervals too.
  }
}

function openWatcher(path: string): FSWatcher | undefined {
  try {
    return watch(path, { persistent: false })
  } catch {
    return undefined
  }
}
