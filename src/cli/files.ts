import { randomUUID } from 'node:crypto'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { NewKeys } from '#accounts/apply/apply.ts'
import type { RecordLine, RecordReader } from '#accounts/import-records.ts'
import { errorMessage, hasErrorCode, OperatorError } from '#platform/errors/operator-error.ts'
import { type Line, readLines } from '#platform/files.ts'
import { countOf } from '#platform/text.ts'
import type { Terminal } from './command.ts'

/** What an import, or a restore, reads more than once: first to check it, then to import it. */
export interface ImportSource {
  /** How messages name it. */
  readonly name: string
  /** All lines, from the first. */
  lines(): AsyncIterable<readonly Line[]>
}

/** The operand that means standard input, or standard output. */
export const standardStream = '-'

/**
 * Works with a file. Standard input, and a named pipe, are kept in a temporary file meanwhile: private, without a name,
 * and gone when the process ends.
 * @param lineBytesMax longer lines cannot be used; default: as `readLines`
 * @throws OperatorError where it cannot be read
 */
export async function withImportSource<Result>(
  path: string,
  terminal: Terminal,
  work: (source: ImportSource) => Promise<Result>,
  lineBytesMax?: number,
): Promise<Result> {
  const name = path === standardStream ? 'standard input' : path
  const file = await openForReading(path, name, terminal)
  try {
    return await work({
      name,
      lines: () => readLines(file.createReadStream({ start: 0, autoClose: false }), lineBytesMax),
    })
  } finally {
    await file.close()
  }
}

async function openForReading(path: string, name: string, { input }: Terminal): Promise<FileHandle> {
  try {
    if (path === standardStream) return await spool(input ?? process.stdin)
    const file = await open(path)
    if ((await file.stat()).isFile()) return file
    try {
      return await spool(file.createReadStream({ autoClose: false }))
    } finally {
      await file.close()
    }
  } catch (cause) {
    throw new OperatorError(`cannot read ${name}: ${errorMessage(cause)}`, { cause })
  }
}

async function spool(input: AsyncIterable<unknown>): Promise<FileHandle> {
  const path = join(tmpdir(), `gatehouse-import-${randomUUID()}`)
  const file = await open(path, 'wx+', 0o600)
  // Removed at once, so that even a process that is killed leaves nothing behind.
  await unlink(path)
  try {
    for await (const chunk of input) {
      await file.writeFile(chunk instanceof Uint8Array ? chunk : String(chunk))
    }
    return file
  } catch (error) {
    await file.close()
    throw error
  }
}

export function invalidLines({ name }: ImportSource, count: number): OperatorError {
  return new OperatorError(`${name} has ${countOf(count, 'invalid line')}; nothing was imported`, {
    hint: 'Fix the file and import it again.',
  })
}

/** How many lines are checked, and accounts imported, at a time. */
export const batchSize = 200

/** The records and bad lines of a source, batch by batch; what ends one record may be reported after later lines. */
export async function* recordsOf<Input>(
  source: ImportSource,
  reader: RecordReader<Input>,
  batchMax = batchSize,
): AsyncGenerator<readonly RecordLine<Input>[]> {
  let batch: RecordLine<Input>[] = []
  for await (const lines of source.lines()) {
    for (const line of lines) batch.push(...reader.read(line))
    while (batch.length >= batchMax) {
      yield batch.slice(0, batchMax)
      batch = batch.slice(batchMax)
    }
  }
  yield [...batch, ...reader.end()]
}

/** Reads what comes, and no more once it is longer than `bytesMax`. */
export async function readInput(input: AsyncIterable<unknown>, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of input) {
    // Bytes: a chunk may end within a character.
    const bytes = chunk instanceof Uint8Array ? Buffer.from(chunk) : Buffer.from(String(chunk))
    chunks.push(bytes)
    length += bytes.length
    if (length > bytesMax) break
  }
  return Buffer.concat(chunks)
}

/** A new file that only its owner can read, and what to throw where it cannot be written. */
export async function createPrivateFile(
  path: string,
  whenThere: { readonly exists: string; readonly hint: string },
): Promise<{ readonly file: FileHandle; failed(cause: unknown): never }> {
  const failed = (cause: unknown): never => {
    throw new OperatorError(`cannot write ${path}: ${errorMessage(cause)}`, { cause })
  }
  const file = await open(path, 'wx', 0o600).catch((cause: unknown) => {
    if (!hasErrorCode(cause, 'EEXIST')) return failed(cause)
    throw new OperatorError(`${path} ${whenThere.exists}`, { hint: whenThere.hint })
  })
  return { file, failed }
}

/** A new file for keys, as JSON lines, which only its owner can read. */
export type KeysFile = Awaited<ReturnType<typeof openKeysFile>>

/** @throws OperatorError if it exists, or cannot be written */
export async function openKeysFile(path: string) {
  const { file, failed } = await createPrivateFile(path, {
    exists: 'exists, and may have keys that are shown nowhere else',
    hint: 'Choose another name. Nothing was changed.',
  })
  let isEmpty = true
  return {
    /** Returns once the keys are on disk. @throws OperatorError */
    add: async (keys: readonly NewKeys[]) => {
      isEmpty = false
      await append(file, keys).catch(failed)
    },
    /** Removes the file if it has no keys. */
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
