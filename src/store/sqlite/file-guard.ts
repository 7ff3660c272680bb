import { type BigIntStats, statSync } from 'node:fs'
import { GatehouseError } from '../../errors/gatehouse-error.ts'
import { hasErrorCode } from '../../platform/system-error.ts'
import { StoreFailure } from '../store-failure.ts'

/** Tells whether the files that are open are still those of their paths. */
export interface FileGuard {
  /**
   * Takes some microseconds.
   * @throws GatehouseError `store-unavailable` where a file is gone or is another: what is written is then lost
   */
  assertInPlace(): void
}

/**
 * Guards a database and its log. A file that was deleted or replaced stays open, and takes all writes; others, such as
 * commands, work on the file of that path.
 * @param path of a database that is open in WAL mode, so that its log is there
 */
export function guardFiles(path: string): FileGuard {
  const files = [path, `${path}-wal`].map((name) => ({ name, opened: statFile(name) }))
  return {
    assertInPlace: () => {
      for (const { name, opened } of files) {
        const now = statFile(name)
        if (now?.ino !== opened?.ino || now?.dev !== opened?.dev) throw lostError(name, now === undefined)
      }
    },
  }
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
  const what = isGone ? 'is gone' : 'was replaced by another file'
  const message = `${name} ${what} while the gateway runs, so nothing is written any more: put the file back that was there; or, to go on with what is there now, restart the gateway`
  return new GatehouseError('store-unavailable', { cause: new StoreFailure('lost', message) })
}
