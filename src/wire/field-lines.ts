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
  for (;;) {
    if (text.charCodeAt(line) === cr) return isEmptyLine(text, line) ? line : -1
    let at = line
    while (tokenCharacters[text.charCodeAt(at)] === 1) at++
    if (at >= text.length) return line
    if (text.charCodeAt(at) !== colon || at === line) return -1
    const nameEnd = at++
    while (isSpace(text.charCodeAt(at))) at++
    const valueStart = at
    while (valueCharacters[text.charCodeAt(at)] === 1) at++
    if (at + 1 >= text.length) return at === text.length || text.charCodeAt(at) === cr ? line : -1
    if (text.charCodeAt(at) !== cr || text.charCodeAt(at + 1) !== lf) return -1
    let valueEnd = at
    while (valueEnd > valueStart && isSpace(text.charCodeAt(valueEnd - 1))) valueEnd--
    fields.push(text.slice(line, nameEnd), text.slice(valueStart, valueEnd))
    line = at + 2
  }
}

/**
 * Header or trailer fields from their lines, each ended by CR LF.
 * @returns name, value, name, value; undefined where a line is not well-formed
 */
export function parseFieldLines(text: string): string[] | undefined {
  const fields: string[] = []
  return text === '' || readFieldLines(text, 0, fields) === text.length ? fields : undefined
}

/** Whether the CR here begins an empty line, as far as can be seen. */
function isEmptyLine(text: string, line: number): boolean {
  return line + 1 >= text.length || text.charCodeAt(line + 1) === lf
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
