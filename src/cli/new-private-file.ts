import { type FileHandle, open } from 'node:fs/promises'
import { errorMessage, hasErrorCode, OperatorError } from '#platform/errors/operator-error.ts'

/** A new file that only its owner can read, and what to throw where it cannot be written. */
export async function createPrivateFile(
  path: string,
  whenThere: { readonly problem: string; readonly hint: string },
): Promise<{ readonly file: FileHandle; failed(cause: unknown): never }> {
  const failed = (cause: unknown): never => {
    throw new OperatorError(`cannot write ${path}: ${errorMessage(cause)}`, { cause })
  }
  const file = await open(path, 'wx', 0o600).catch((cause: unknown) => {
    if (!hasErrorCode(cause, 'EEXIST')) return failed(cause)
    throw new OperatorError(`${path} exists${whenThere.problem}`, { hint: whenThere.hint })
  })
  return { file, failed }
}
