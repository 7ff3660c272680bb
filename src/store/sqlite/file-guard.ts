import { type BigIntStats, statSync } from 'node:fs'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { hasErrorCode } from '#platform/errors/operator-error.ts'
import { StoreFailure } from '../store-failure.ts'

/** Checks that the open files are still the ones at their paths. */
export interface FileGuard {
  /**
   * Takes some microseconds.
   * @throws GatehouseError `store-unavailable` where a file was deleted or replaced: what is written is then lost
   */
  assertInPlace(): void
}

/**
 * Guards a database and its log. A file that was deleted or replaced stays open and accepts all writes; others, such as
 * commands, work on the file at that path.
 * @param path of a database that is open in WAL mode, so that its log exists
 */
export function guardFiles(path: string): FileGuard {
  const files = [path, walPathOf(path)].map((name) => ({ name, opened: statFile(name) }))
  return {
    assertInPlace: () => {
      for (const { name, opened } of files) {
        const now = statFile(name)
        if (now?.ino !== opened?.ino || now?.dev !== opened?.dev) throw lostError(name, now === undefined)
      }
    },
  }
}

/** SQLite names it after the database. */
export function walPathOf(path: string): string {
  return `${path}-wal`
}

/** As bigints: numbers of files can have 64 bits. */
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
  return new GatehouseError('store-unavailable', { cause: new StoreFailure('lost', message) })
}
