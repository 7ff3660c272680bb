import { tokenCharacters, valueCharacters } from './characters.ts'

const tab = 0x09
const lf = 0x0a
const cr = 0x0d
const space = 0x20
const colon = 0x3a

/** The same lines as bytes, which are quicker to inspect, and as Latin-1 text, which fields are sliced from. */
export interface RawLines {
  readonly bytes: Uint8Array
  readonly text: string
}

/**
 * Reads header or trailer fields, strictly: names are tokens (RFC 9110 5.1), no space before the colon, no
 * folding, no control character, every line ended by CR LF (RFC 9112 5).
 * @param start where the first line begins
 * @param fields gets name, value, name, value: as they were sent, without the space around values
 * @returns where the empty line begins, or the first incomplete line; -1 where a line, or as much of it as has
 *   arrived, is malformed
 */
export function readFieldLines({ bytes, text }: RawLines, start: number, fields: string[]): number {
  let line = start
  while (bytes[line] !== cr) {
    const nameEnd = skip(bytes, line, tokenCharacters)
    if (nameEnd >= bytes.length) return line
    if (bytes[nameEnd] !== colon || nameEnd === line) return -1
    const end = skip(bytes, nameEnd + 1, valueCharacters)
    if (end + 1 >= bytes.length) return end === bytes.length || bytes[end] === cr ? line : -1
    if (bytes[end] !== cr || bytes[end + 1] !== lf) return -1
    fields.push(text.slice(line, nameEnd), sliceValue(text, nameEnd + 1, end))
    line = end + 2
  }
  // The empty line, or as much of it as has arrived.
  return line + 1 >= bytes.length || bytes[line + 1] === lf ? line : -1
}

/** The index of the first byte from `start` on that is none of the characters. */
export function skip(bytes: Uint8Array, start: number, characters: Uint8Array): number {
  const end = bytes.length
  let at = start
  while (at < end && characters[bytes[at] ?? 0] === 1) at++
  return at
}

/** The value without the spaces and tabs around it (RFC 9110 5.6.3); trim() would remove more than these. */
function sliceValue(text: string, from: number, to: number): string {
  let start = from
  let end = to
  while (start < end && isSpace(text.charCodeAt(start))) start++
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

/**
 * Header or trailer fields from their lines, each ended by CR LF.
 * @returns name, value, name, value; undefined where a line is malformed
 */
export function parseFieldLines(bytes: Buffer): string[] | undefined {
  if (bytes.length === 0) return []
  const fields: string[] = []
  const lines = { bytes, text: bytes.toString('latin1') }
  return readFieldLines(lines, 0, fields) === bytes.length ? fields : undefined
}

function isSpace(code: number): boolean {
  return code === space || code === tab
}

/**
 * Whether a part that ends with this delimiter is longer than allowed, the delimiter not counted.
 * @param end where the delimiter begins; -1 where it is not complete yet
 */
export function isTooLong(bytes: Buffer, end: number, mark: string, bytesMax: number): boolean {
  return end === -1 ? bytes.length >= bytesMax + mark.length : end > bytesMax
}
