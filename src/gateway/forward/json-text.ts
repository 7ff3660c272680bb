import {
  arrayEnd,
  arrayStart,
  backslash,
  colon,
  comma,
  type FieldNode,
  objectEnd,
  objectStart,
  quote,
} from './json-fields.ts'

/** Deeper texts are not read, as hardly any server reads them. */
export const jsonDepthMax = 10_000

const notFound = -1

/**
 * Finds fields in a whole JSON text (RFC 8259), which has to be an object. Unlike JsonFieldScanner, which reads numbers
 * in what passes, it is strict, and says where each value is. JSON.parse would make an object of every `{}`, and so
 * hold ten times the length of the text.
 * @param onField called for each value of a field, with the places of its first byte and of the byte after it; for an
 *   object or array only the first is known, and both are the same
 * @returns false if it is not an object in JSON, or one of more than `jsonDepthMax` levels; fields before the fault
 *   were found
 */
export function findJsonFields(text: Uint8Array, root: FieldNode, onField: OnField): boolean {
  const start = spaceEnd(text, 0)
  if (text[start] !== objectStart) return false
  const reader = new JsonReader(text, root, onField)
  const end = reader.read(start + 1)
  return end !== notFound && spaceEnd(text, end) === text.length
}

type OnField = (field: number, start: number, end: number) => void

/** The depth is in a list, not on the stack. */
class JsonReader {
  readonly #text: Uint8Array
  readonly #onField: OnField
  /** How the open objects and arrays end. */
  readonly #closers: number[] = [objectEnd]
  /** Their nodes; undefined = they have no fields. */
  readonly #nodes: (FieldNode | undefined)[]

  constructor(text: Uint8Array, root: FieldNode, onField: OnField) {
    this.#text = text
    this.#onField = onField
    this.#nodes = [root]
  }

  /** @param start within an object. @returns the place after it, or `notFound` */
  read(start: number): number {
    const text = this.#text
    const closers = this.#closers
    let at = start
    let isFirst = true
    while (closers.length > 0) {
      at = spaceEnd(text, at)
      if (text[at] === closers.at(-1)) {
        at++
        closers.pop()
        this.#nodes.pop()
        isFirst = false
        continue
      }
      const depth = closers.length
      if (!isFirst) at = text[at] === comma ? spaceEnd(text, at + 1) : notFound
      at = closers.at(-1) === objectEnd ? this.#readMember(at) : this.#readValue(at, undefined)
      if (at === notFound || closers.length > jsonDepthMax) return notFound
      isFirst = closers.length > depth
    }
    return at
  }

  #readMember(start: number): number {
    const text = this.#text
    const nameEnd = textEnd(text, start)
    if (nameEnd === notFound) return notFound
    const at = spaceEnd(text, nameEnd)
    if (text[at] !== colon) return notFound
    const member = memberOf(this.#nodes.at(-1), text, start + 1, nameEnd - 1)
    return this.#readValue(spaceEnd(text, at + 1), member)
  }

  /** Reads a value; of an object or array only its first byte. */
  #readValue(start: number, member: FieldNode | undefined): number {
    const first = this.#text[start]
    const isScalar = first !== objectStart && first !== arrayStart
    const end = isScalar ? scalarEnd(this.#text, start) : start
    if (end === notFound) return notFound
    if (member?.field !== undefined) this.#onField(member.field, start, end)
    if (isScalar) return end
    this.#closers.push(first === objectStart ? objectEnd : arrayEnd)
    this.#nodes.push(first === objectStart ? member : undefined)
    return start + 1
  }
}

/** @returns the place of the first byte that is no white space, which may be the end */
export function spaceEnd(text: Uint8Array, start: number): number {
  let at = start
  for (; at < text.length; at++) {
    const byte = text[at]
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) break
  }
  return at
}

/** Compares bytes, so that no name costs more than its length (hot). */
function memberOf(
  node: FieldNode | undefined,
  text: Uint8Array,
  start: number,
  end: number,
): FieldNode | undefined {
  // A name that is shorter than an escape contains none, so its length decides.
  if (node === undefined || (end - start < 6 && !node.lengths.has(end - start))) return undefined
  for (const [name, member] of node.members) if (isName(text, start, end, name)) return member
  return undefined
}

/** Any character may be written as an escape of six bytes; no name of a field has a character with a shorter escape. */
function isName(text: Uint8Array, start: number, end: number, name: string): boolean {
  let at = start
  for (let index = 0; index < name.length; index++) {
    let code = text[at++]
    if (code === backslash) {
      if (text[at] !== letter.u) return false
      code = 0
      for (const last = at + 4; at < last; ) code = code * 16 + hexValue(text[++at] ?? 0)
      at++
    }
    if (at > end || code !== name.charCodeAt(index)) return false
  }
  return at === end
}

/** @returns the place after a text, number, `true`, `false` or `null`, or `notFound` */
function scalarEnd(text: Uint8Array, start: number): number {
  const byte = text[start]
  if (byte === quote) return textEnd(text, start)
  if (byte === letter.t) return wordEnd(text, start, 'true')
  if (byte === letter.f) return wordEnd(text, start, 'false')
  return byte === letter.n ? wordEnd(text, start, 'null') : numberEnd(text, start)
}

/** @returns the place after the closing quote, or `notFound` (hot: most bytes of a body are of texts) */
function textEnd(text: Uint8Array, start: number): number {
  if (text[start] !== quote) return notFound
  for (let at = start + 1; at < text.length; at++) {
    const byte = text[at] ?? 0
    if (byte === quote) return at + 1
    if (byte < 0x20) return notFound
    if (byte !== backslash) continue
    at = escapeEnd(text, at)
    if (at === notFound) return notFound
  }
  return notFound
}

/** @returns the place of the last byte of an escape, or `notFound` */
function escapeEnd(text: Uint8Array, start: number): number {
  const byte = text[start + 1]
  if (byte !== letter.u) return byte !== undefined && escaped.has(byte) ? start + 1 : notFound
  for (let at = start + 2; at < start + 6; at++) if (Number.isNaN(hexValue(text[at] ?? 0))) return notFound
  return start + 5
}

function wordEnd(text: Uint8Array, start: number, word: string): number {
  for (let index = 0; index < word.length; index++)
    if (text[start + index] !== word.charCodeAt(index)) return notFound
  return start + word.length
}

function numberEnd(text: Uint8Array, start: number): number {
  const first = text[start] === sign.minus ? start + 1 : start
  let end = text[first] === digit.zero ? first + 1 : digitsEnd(text, first)
  if (text[end] === sign.point && end !== notFound) end = digitsEnd(text, end + 1)
  if (end === notFound || ((text[end] ?? 0) | 0x20) !== letter.e) return end
  const isSigned = text[end + 1] === sign.plus || text[end + 1] === sign.minus
  return digitsEnd(text, isSigned ? end + 2 : end + 1)
}

/** @returns the place after one digit or more, or `notFound` */
function digitsEnd(text: Uint8Array, start: number): number {
  let end = start
  while (isDigit(text[end] ?? 0)) end++
  return end === start ? notFound : end
}

function isDigit(byte: number): boolean {
  return byte >= digit.zero && byte <= digit.nine
}

/** NaN = no digit. */
function hexValue(byte: number): number {
  if (isDigit(byte)) return byte - digit.zero
  const lower = byte | 0x20
  return lower >= letter.a && lower <= letter.f ? lower - letter.a + 10 : Number.NaN
}

const digit = { zero: 0x30, nine: 0x39 } as const
const sign = { plus: 0x2b, minus: 0x2d, point: 0x2e } as const
const letter = { a: 0x61, e: 0x65, f: 0x66, n: 0x6e, t: 0x74, u: 0x75 } as const
const escaped: ReadonlySet<number> = new Set(Buffer.from('"\\/bfnrt'))
