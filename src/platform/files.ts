import { isUtf8 } from 'node:buffer'
import { closeSync, existsSync, mkdirSync, openSync, readSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { hasErrorCode } from './errors/operator-error.ts'

/**
 * Creates a folder that only its owner can read, with missing parents. Without mkdir's `recursive`, which retries
 * forever if the system reports "no such file" for a folder that cannot be created (/proc, automounts).
 */
export function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    // The slash makes a file in its place give the right error.
    if (hasErrorCode(error, 'EEXIST')) return void statSync(`${path}/`)
    if (!hasErrorCode(error, 'ENOENT') || existsSync(dirname(path))) throw error
    makeFolder(dirname(path))
    makeFolder(path)
  }
}

/**
 * How much of a file is read at once. Not the whole file: once a large buffer is freed, glibc keeps twice as much
 * free memory in each of its arenas from then on (mallopt(3), M_MMAP_THRESHOLD).
 */
const pieceBytes = 65_536

/**
 * Reads a whole file, whatever size it reports, as a device or a pipe reports none.
 * @throws Error if it is larger than `bytesMax`, or cannot be read
 */
export function readAtMost(file: string, bytesMax: number): Buffer {
  const descriptor = openSync(file, 'r')
  try {
    const piece = Buffer.allocUnsafe(pieceBytes)
    const pieces: Buffer[] = []
    let length = 0
    for (let count = readSync(descriptor, piece); count !== 0; count = readSync(descriptor, piece)) {
      length += count
      if (length > bytesMax) throw new Error(`it is larger than ${bytesMax / 1_048_576} MiB`)
      pieces.push(Buffer.from(piece.subarray(0, count)))
    }
    return Buffer.concat(pieces)
  } finally {
    closeSync(descriptor)
  }
}

/** A line of a text, without its line break; lines count from 1. */
export interface Line {
  readonly line: number
  readonly text: string
  /** Why the line cannot be used: it is too long, or not UTF-8; undefined = it can be used. */
  readonly problem: string | undefined
}

/** The default of `readLines`. */
export const lineBytesMax = 1_048_576

const lineFeed = 0x0a

/**
 * Splits bytes into lines, at LF and CR LF, in batches as they arrive; a line that is too long takes no memory.
 * @param bytesMax longer lines are not kept
 */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
  bytesMax = lineBytesMax,
): AsyncGenerator<readonly Line[]> {
  let parts: Uint8Array[] = []
  let length = 0
  let line = 0

  function add(part: Uint8Array): void {
    length += part.length
    if (length <= bytesMax) parts.push(part)
    else parts = []
  }

  function take(): Line {
    line++
    const bytes = parts.length === 1 && parts[0] ? Buffer.from(parts[0]) : Buffer.concat(parts)
    const taken = length > bytesMax ? tooLong(line, bytesMax) : toLine(line, bytes)
    parts = []
    length = 0
    return taken
  }

  for await (const chunk of chunks) {
    const lines: Line[] = []
    let start = 0
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, start)) {
      add(chunk.subarray(start, end))
      lines.push(take())
      start = end + 1
    }
    // A copy: the reader may use the bytes of the chunk again.
    add(Uint8Array.from(chunk.subarray(start)))
    if (lines.length > 0) yield lines
  }
  if (length > 0) yield [take()]
}

function tooLong(line: number, bytesMax: number): Line {
  return { line, text: '', problem: `is longer than ${bytesMax / 1_048_576} MiB` }
}

function toLine(line: number, bytes: Buffer): Line {
  const text = bytes.toString()
  const problem = isUtf8(bytes) ? undefined : 'is not valid UTF-8'
  return { line, text: text.endsWith('\r') ? text.slice(0, -1) : text, problem }
}
