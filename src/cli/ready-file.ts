import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { OperatorError, reasonOf } from '../errors.ts'
import type { Gateway } from '../gateway.ts'

/** The file that tells others where the gateway is, as long as it takes requests. */
export interface ReadyFile {
  write(gateway: Pick<Gateway, 'url' | 'opsUrl'>): void
}

/**
 * Makes sure, before anything is started, that the file can be written; one of an earlier run is removed.
 * It is gone with the process, however that ends.
 * @throws OperatorError where it cannot be written: whoever waits for it would wait for ever
 */
export function openReadyFile(path: string): ReadyFile {
  const draft = `${path}.tmp`

  function remove(): void {
    rmSync(path, { force: true })
    rmSync(draft, { force: true })
  }

  function attempt(work: () => void): void {
    try {
      work()
    } catch (cause) {
      throw new OperatorError(`cannot write the ready file ${path}: ${reasonOf(cause)}`, { cause })
    }
  }

  attempt(() => {
    remove()
    writeFileSync(draft, '')
  })
  process.once('exit', remove)
  return {
    write: ({ url, opsUrl }) =>
      attempt(() => {
        // Written whole before it appears under its name: whoever waits for it never reads half of it.
        writeFileSync(draft, `${JSON.stringify({ url, opsUrl, pid: process.pid })}\n`)
        renameSync(draft, path)
      }),
  }
}
