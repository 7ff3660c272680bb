import { getSystemErrorMap } from 'node:util'

/** Something that an operator must fix before a command can continue: the problem, and a hint on how to fix it. */
export class OperatorError extends Error {
  override readonly name = 'OperatorError'
  readonly hint: string | undefined

  constructor(message: string, { hint, cause }: { readonly hint?: string; readonly cause?: unknown } = {}) {
    super(message, { cause })
    this.hint = hint
  }
}

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
