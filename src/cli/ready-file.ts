import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { errorMessage, hasErrorCode, OperatorError } from '#platform/errors/operator-error.ts'
import { parseJsonObject } from '#platform/json.ts'
import type { Gateway } from '#runtime/gateway.ts'

/** The file that tells other programs the gateway's URLs, while it accepts requests. */
export type ReadyFile = ReturnType<typeof createReadyFile>

/**
 * Checks, before anything is started, that the file can be written. The file of another running gateway stays until
 * this one accepts requests: if it fails to start, for example because the port is in use, the file is still correct.
 * Each process removes its own file when it exits.
 * @throws OperatorError if it cannot be written: a program that waits for it would wait forever
 */
export function createReadyFile(path: string) {
  // Named by process: two gateways that start at once do not overwrite each other's temporary file.
  const temporaryPath = `${path}.${process.pid}.tmp`

  function remove(): void {
    rmSync(temporaryPath, { force: true })
    if (pidIn(path) === process.pid) rmSync(path, { force: true })
  }

  function attempt(work: () => void): void {
    try {
      work()
    } catch (cause) {
      throw new OperatorError(`cannot write the ready file ${path}: ${errorMessage(cause)}`, { cause })
    }
  }

  attempt(() => {
    if (!isOtherProcess(pidIn(path))) rmSync(path, { force: true })
    writeFileSync(temporaryPath, '')
  })
  process.once('exit', remove)
  return {
    write: ({ url, opsUrl, decideUrl, redirectUrl }: Gateway) =>
      attempt(() => {
        // Renamed only when it is complete: no reader ever sees half of it.
        const urls = { url, opsUrl, decideUrl, redirectUrl }
        writeFileSync(temporaryPath, `${JSON.stringify({ ...urls, pid: process.pid })}\n`)
        renameSync(temporaryPath, path)
      }),
  }
}

/** The process ID in a ready file; undefined if there is no file, or no ID in it. */
function pidIn(path: string): number | undefined {
  try {
    const pid = parseJsonObject(readFileSync(path, 'utf8'))?.pid
    return typeof pid === 'number' ? pid : undefined
  } catch {
    return undefined
  }
}

/** Whether another process has this ID, even one of another user. In a container each run has the same ID. */
function isOtherProcess(pid: number | undefined): boolean {
  if (pid === undefined || pid === process.pid) return false
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return hasErrorCode(error, 'EPERM')
  }
}
