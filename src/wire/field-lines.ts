import { tokenCharacters, valueCharacters } from './characters.ts'

const tab = 0x09
const lf = 0x0a
const cr = 0x0d
const space = 0x20
const colon = 0x3a

/**
 * Reads header or trailer fields, strictly: names are tokens (RFC 9110 5.1), no space before the colon, no
 * folding, no control character, every line ended by CR LF (RFC 9112 5).
 * @param fields gets name, value, name, value: as they were sent, without the space around values
 * @param start where the first line begins in the text, which is Latin-1
 * @returns where the empty line begins, or one that is not there as a whole; -1 where a line is not
 *   well-formed, as far as it is there
 */
export function readFieldLines(text: string, start: number, fields: string[]): number {
  let line = start
  while (text.charCodeAt(line) !== cr) {
    const nameEnd = skip(text, line, tokenCharacters)
    if (nameEnd >= text.length) return line
    if (text.charCodeAt(nameEnd) !== colon || nameEnd === line) return -1
    const end = skip(text, nameEnd + 1, valueCharacters)
    if (end + 1 >= text.length) return end === text.length || text.charCodeAt(end) === cr ? line : -1
    if (text.charCodeAt(end) !== cr || text.charCodeAt(end + 1) !== lf) return -1
    fields.push(text.slice(line, nameEnd), sliceValue(text, nameEnd + 1, end))
    line = end + 2
  }
  // The empty line, as far as it is there.
  return line + 1 >= text.length || text.charCodeAt(line + 1) === lf ? line : -1
}

/** Where the first character stands, from one on, that is none of these. */
function skip(text: string, start: number, characters: Uint8Array): number {
  let at = start
  while (characters[text.charCodeAt(at)] === 1) at++
  return at
}

/** Without the spaces and tabs around it (RFC 9110 5.6.3): nothing else that trim() takes for space. */
function sliceValue(text: string, from: number, to: number): string {
  let start = from
  let end = to
  while (isSpace(text.charCodeAt(start)) && start < end) start++
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

/**
 * Header or trailer fields from their lines, each ended by CR LF.
 * @returns name, value, name, value; undefined where a line is not well-formed
 */
export function parseFieldLines(text: string): string[] | undefined {
  const fields: string[] = []
  return text === '' || readFieldLines(text, 0, fields) === text.length ? fields : undefined
}

function isSpace(code: number): boolean {
  return code === space || code === tab
}

/**
 * Whether what ends with this mark is longer than allowed, the mark not counted.
 * @param end where the mark begins; -1 where it is not there yet, though its first bytes may be
 */
export function isTooLong(bytes: Buffer, end: number, mark: string, bytesMax: number): boolean {
  return end === -1 ? bytes.length >= bytesMax + mark.length : end > bytesMax
}
