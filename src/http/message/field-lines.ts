import { isSpace } from './characters.ts'
import { headBlock } from './head-bytes.ts'
import { hashAddends, NameTable } from './name-table.ts'

const tab = 0x09
const lf = 0x0a
const cr = 0x0d
const space = 0x20
const colon = 0x3a

/** As many lines as nearly every head has. */
const usualLines = 64
/** The least room for the lines of a head that arrives in pieces: many clients may have begun one. */
const fewLines = 8

/**
 * The marked lines of a head, in their order. For each: its mark, the indexes where the line begins and where its value
 * begins and ends, and where the next line begins.
 */
export class MarkedLines {
  /** Five numbers per line. */
  at: Int32Array
  /** How many numbers are used. */
  end = 0
  /** Whether all lines of the head, marked or not, have one space before their value, and none after it. */
  isSpacedUsually = true

  /** @param lines how many there is room for; it grows as needed */
  constructor(lines = usualLines) {
    this.at = new Int32Array(5 * lines)
  }

  clear(): void {
    // What an unusual head needed is not kept for good.
    if (this.at.length > 5 * usualLines) this.at = new Int32Array(5 * usualLines)
    this.end = 0
    this.isSpacedUsually = true
  }

  add(mark: number, start: number, valueStart: number, valueEnd: number, next: number): void {
    if (this.end === this.at.length) this.#grow()
    const { at, end } = this
    at[end] = mark
    at[end + 1] = start
    at[end + 2] = valueStart
    at[end + 3] = valueEnd
    at[end + 4] = next
    this.end = end + 5
  }

  /** A copy that has no more room than its lines need. */
  copy(): MarkedLines {
    const copy = new MarkedLines(Math.max(fewLines, this.end / 5))
    copy.at.set(this.at.subarray(0, this.end))
    copy.end = this.end
    copy.isSpacedUsually = this.isSpacedUsually
    return copy
  }

  #grow(): void {
    const larger = new Int32Array(2 * this.at.length)
    larger.set(this.at)
    this.at = larger
  }
}

/** The text of a head, in Latin-1, and the lines that were marked during parsing. */
export interface MarkedText {
  readonly text: string
  /** Where its field lines begin and end: the end is before the empty line. */
  readonly fieldsStart: number
  readonly fieldsEnd: number
  readonly marked: MarkedLines
}

/**
 * Whether a field is kept, given its mark and the position of its value in a text; undefined = the head cannot be
 * forwarded like this.
 */
export type IsKept = (text: string, mark: number, start: number, end: number) => boolean | undefined

/**
 * The lines of a head without the marked ones that are not kept, in slices of its text; undefined if `isKept` says so.
 */
export function keptLines(
  { text, fieldsStart, fieldsEnd, marked }: MarkedText,
  isKept: IsKept,
): string | undefined {
  if (!marked.isSpacedUsually) return undefined
  const { at, end } = marked
  let lines = ''
  let from = fieldsStart
  for (let index = 0; index < end; index += 5) {
    const verdict = isKept(text, at[index] ?? 0, at[index + 2] ?? 0, at[index + 3] ?? 0)
    if (verdict === undefined) return undefined
    if (verdict) continue
    const start = at[index + 1] ?? 0
    if (start > from) lines += text.slice(from, start)
    from = at[index + 4] ?? 0
  }
  return lines + text.slice(from, fieldsEnd)
}

/** What reading a line returns instead of an index. */
const malformed = -1
const incomplete = -2

/**
 * Parses the header or trailer fields in the head block, strictly and in one pass: names are tokens (RFC 9110 5.1), no
 * space before the colon, no folding, no control character, every line ended by CR LF (RFC 9112 5).
 * @param start where the first line begins
 * @param marked gets the lines whose names have a mark
 * @returns where the empty line begins, or the first incomplete line; -1 if a line, or the received part of it, is
 * malformed
 */
export function readFieldLines(start: number, names: NameTable, marked: MarkedLines): number {
  const { bytes, length } = headBlock
  let line = start
  while (bytes[line] !== cr) {
    const next = readFieldLine(line, names, marked)
    if (next < 0) return next === incomplete ? line : malformed
    line = next
  }
  // The empty line, or the received part of it.
  return line + 1 >= length || bytes[line + 1] === lf ? line : malformed
}

/** @returns where the next line begins */
function readFieldLine(line: number, names: NameTable, marked: MarkedLines): number {
  const { bytes, length } = headBlock
  let nameEnd = line
  let hash = 0
  for (;;) {
    const added = hashAddends[bytes[nameEnd] ?? 0] ?? 0
    if (added === 0) break
    hash = (hash + added) | 0
    nameEnd++
  }
  if (nameEnd >= length) return incomplete
  if (bytes[nameEnd] !== colon || nameEnd === line) return malformed
  const end = valueEnd(nameEnd + 1)
  if (end + 1 >= length) return end >= length || bytes[end] === cr ? incomplete : malformed
  if (bytes[end] !== cr || bytes[end + 1] !== lf) return malformed
  if (!isSpacedUsually(bytes, nameEnd + 1, end)) marked.isSpacedUsually = false
  if (names.mayHaveMark(hash, bytes[line] ?? 0)) {
    const found = names.markAt(bytes, line, nameEnd, hash)
    if (found !== 0) addLine(bytes, marked, found, line, nameEnd + 1, end)
  }
  return end + 2
}

/** Whether a value, between the colon and the end of its line, has one space before it, and none after it. */
function isSpacedUsually(bytes: Uint8Array, from: number, to: number): boolean {
  return bytes[from] === space && !isSpace(bytes[from + 1]) && !isSpace(bytes[to - 1])
}

/**
 * The index of the first byte that no value may contain: a control character other than the tab. Four bytes are tested
 * at a time. Hot: as one loop that branches, with one look at a word, a head takes a third longer.
 */
function valueEnd(start: number): number {
  const { bytes, view } = headBlock
  for (let at = start; ; ) {
    let controls = controlsIn(view.getInt32(at, true))
    while (controls === 0) {
      at += 4
      controls = controlsIn(view.getInt32(at, true))
    }
    at += (31 - Math.clz32(controls & -controls)) >> 3
    if (bytes[at] !== tab) return at
    at++
  }
}

/**
 * The lowest bit that is set is the highest of the first control character in a word, if there is one: a byte minus
 * 0x20, and a byte of which DEL makes 0 minus 1, borrow from it. Bits above it may be set by these borrows.
 */
function controlsIn(word: number): number {
  return ((word - 0x20202020) | ((word ^ 0x7f7f7f7f) - 0x01010101)) & ~word & 0x80808080
}

/** The value excludes the spaces and tabs around it (RFC 9110 5.6.3). */
function addLine(
  bytes: Uint8Array,
  marked: MarkedLines,
  mark: number,
  line: number,
  from: number,
  to: number,
): void {
  let start = from
  let end = to
  while (start < end && isSpace(bytes[start])) start++
  while (end > start && isSpace(bytes[end - 1])) end--
  marked.add(mark, line, start, end, to + 2)
}

/**
 * The fields of lines that were parsed already.
 * @param text contains the lines, in Latin-1
 * @param from where the first line begins
 * @param to where the last one ends
 * @returns name, value, name, value: as received, without the space around values
 */
export function fieldsOf(text: string, from: number, to: number): string[] {
  const fields: string[] = []
  for (let line = from; line < to; ) {
    const nameEnd = text.indexOf(':', line)
    const end = text.indexOf('\r', nameEnd)
    fields.push(text.slice(line, nameEnd), sliceValue(text, nameEnd + 1, end))
    line = end + 2
  }
  return fields
}

/** trim() would remove more than spaces and tabs. */
export function sliceValue(text: string, from: number, to: number): string {
  let start = from
  let end = to
  while (start < end && isSpace(text.charCodeAt(start))) start++
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

/**
 * Header or trailer fields from their lines, each ended by CR LF.
 * @returns name, value, name, value; undefined if a line is malformed
 */
export function parseFieldLines(bytes: Buffer): string[] | undefined {
  if (bytes.length === 0) return []
  headBlock.load(bytes)
  if (readFieldLines(0, noNames, noLines) !== bytes.length) return undefined
  return fieldsOf(bytes.toString('latin1'), 0, bytes.length)
}

const noNames = new NameTable([])
const noLines = new MarkedLines()
