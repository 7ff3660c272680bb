import { getSystemErrorMap } from 'node:util'

/** Whether something failed with one of the system's codes, such as ENOENT. */
export function hasErrorCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}

/** The description of a system error: `no such file or directory` rather than ENOENT. */
export function errorMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if ('hostname' in error && 'code' in error && error.code === 'ENOTFOUND') {
    return `host ${error.hostname} not found`
  }
  if (!('errno' in error) || typeof error.errno !== 'number') return error.message
  return getSystemErrorMap().get(error.errno)?.[1] ?? error.message
}
