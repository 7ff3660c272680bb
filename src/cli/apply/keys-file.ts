import { type FileHandle, open, unlink } from 'node:fs/promises'
import type { NewKeys } from '#accounts/apply/apply.ts'
import { errorMessage, hasErrorCode, OperatorError } from '#platform/errors/operator-error.ts'

/** A new file for keys, as JSON lines, which only its owner can read. */
export interface KeysFile {
  /** Returns once the keys are on disk. @throws OperatorError */
  add(keys: readonly NewKeys[]): Promise<void>
  /** Closes the file, and removes it if it has no keys. */
  close(): Promise<void>
}

/** @throws OperatorError if it exists, or cannot be written */
export async function openKeysFile(path: string): Promise<KeysFile> {
  const file = await open(path, 'wx', 0o600).catch((cause: unknown) => {
    if (!hasErrorCode(cause, 'EEXIST')) throw cannotWrite(path, cause)
    throw new OperatorError(`${path} exists, and may have keys that are shown nowhere else`, {
      hint: 'Choose another name. Nothing was changed.',
    })
  })
  let isEmpty = true
  return {
    add: async (keys) => {
      isEmpty = false
      await append(file, keys).catch((cause: unknown) => {
        throw cannotWrite(path, cause)
      })
    },
    close: async () => {
      await file.close()
      if (isEmpty) await unlink(path)
    },
  }
}

async function append(file: FileHandle, keys: readonly NewKeys[]): Promise<void> {
  await file.appendFile(keys.map((each) => `${JSON.stringify(each)}\n`).join(''))
  await file.sync()
}

function cannotWrite(path: string, cause: unknown): OperatorError {
  return new OperatorError(`cannot write ${path}: ${errorMessage(cause)}`, { cause })
}
