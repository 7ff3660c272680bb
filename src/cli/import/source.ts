import { randomUUID } from 'node:crypto'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { errorMessage, OperatorError } from '#platform/errors/operator-error.ts'
import { type Line, readLines } from '#platform/files.ts'
import type { Terminal } from '../command.ts'

/** What an import, or a restore, reads more than once: first to check it, then to import it. */
export interface ImportSource {
  /** How messages name it. */
  readonly name: string
  /** All lines, from the first. */
  lines(): AsyncIterable<readonly Line[]>
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

/** The operand that means standard input, or standard output. */
export const standardStream = '-'

/**
 * Works with a file, or standard input, which is kept in a temporary file meanwhile: private, without a name, and gone with
 * the process. The same for a pipe that has a name.
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
  // At once: even a process that is killed leaves nothing.
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
