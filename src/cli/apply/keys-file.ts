import { type FileHandle, unlink } from 'node:fs/promises'
import type { NewKeys } from '#accounts/apply/apply.ts'
import { createPrivateFile } from '../new-private-file.ts'

/** A new file for keys, as JSON lines, which only its owner can read. */
export interface KeysFile {
  /** Returns once the keys are on disk. @throws OperatorError */
  add(keys: readonly NewKeys[]): Promise<void>
  /** Closes the file, and removes it if it has no keys. */
  close(): Promise<void>
}

/** @throws OperatorError if it exists, or cannot be written */
export async function openKeysFile(path: string): Promise<KeysFile> {
  const { file, failed } = await createPrivateFile(path, {
    problem: ', and may have keys that are shown nowhere else',
    hint: 'Choose another name. Nothing was changed.',
  })
  let isEmpty = true
  return {
    add: async (keys) => {
      isEmpty = false
      await append(file, keys).catch(failed)
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
