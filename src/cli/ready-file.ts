import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { hasCode, OperatorError, reasonOf } from '../errors.ts'
import type { Gateway } from '../gateway.ts'

/** The file that tells others where the gateway is, as long as it takes requests. */
export interface ReadyFile {
  write(gateway: Pick<Gateway, 'url' | 'opsUrl'>): void
}

/**
 * Makes sure, before anything is started, that the file can be written. One of a gateway that runs stays until
 * this one takes requests: where that fails, for its port is taken, the file is still true. It is gone with the
 * process whose it is, however that ends.
 * @throws OperatorError where it cannot be written: whoever waits for it would wait for ever
 */
export function openReadyFile(path: string): ReadyFile {
  // Of this process alone: two that start at once do not take each other's.
  const draft = `${path}.${process.pid}.tmp`

  function remove(): void {
    rmSync(draft, { force: true })
    if (pidIn(path) === process.pid) rmSync(path, { force: true })
  }

  function attempt(work: () => void): void {
    try {
      work()
    } catch (cause) {
      throw new OperatorError(`cannot write the ready file ${path}: ${reasonOf(cause)}`, { cause })
    }
  }

  attempt(() => {
    if (!isOther(pidIn(path))) rmSync(path, { force: true })
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

/** The process that a ready file tells; undefined where there is no such file, or it tells none. */
function pidIn(path: string): number | undefined {
  try {
    const { pid } = JSON.parse(readFileSync(path, 'utf8')) as { readonly pid?: unknown }
    return typeof pid === 'number' ? pid : undefined
  } catch {
    return undefined
  }
}

/** Whether a process is there and not this one, be it of another user. In a container each run has the same number. */
function isOther(pid: number | undefined): boolean {
  if (pid === undefined || pid === process.pid) return false
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return hasCode(error, 'EPERM')
  }
}
