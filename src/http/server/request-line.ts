import { tokenCharacters } from '../message/characters.ts'
import { headBlock, skip } from '../message/head-bytes.ts'
import { MalformedMessage } from '../request-head.ts'

/** The positions of the parts of a request line (RFC 9112 3). */
export interface RequestLine {
  readonly methodEnd: number
  readonly targetEnd: number
  /** The y in HTTP/1.y: 0 or 1. */
  readonly minorVersion: number
  /** Whether the target is a path that all servers read alike: see MarkedHead. */
  readonly hasPlainTarget: boolean
  /** Whether the target has bytes above 0x7F. */
  readonly hasHighBytes: boolean
  /** The index after its LF. */
  readonly end: number
}

const lf = 0x0a
const cr = 0x0d
const space = 0x20
const zero = 0x30
const slash = 0x2f
/** The form of a version. Any digit y is accepted here, of which 0 and 1 are valid. */
const versionForm = Buffer.from(' HTTP/1.y\r\n', 'latin1')
const minorAt = versionForm.indexOf('y')

/**
 * Parses, in the head block, a method, one space, a target, one space and the version. Some servers accept a lone CR as
 * the end of the line, or a space as the end of the target; other control characters make the target ambiguous, but not
 * the line.
 * @returns undefined if it is incomplete and may still become a request line
 * @throws MalformedMessage
 */
export function readRequestLine(): RequestLine | undefined {
  const { bytes, length } = headBlock
  const methodEnd = skip(0, tokenCharacters)
  // Nothing, or the first half of an empty line.
  if (methodEnd === length || (length === 1 && bytes[0] === cr)) return undefined
  if (bytes[methodEnd] !== space || methodEnd === 0) throw malformedLine()
  let hasPlainTarget = bytes[methodEnd + 1] === slash
  let highest = 0
  let before: number = kinds.plain
  let targetEnd = methodEnd + 1
  for (; targetEnd < length && !endsTarget(bytes[targetEnd]); targetEnd++) {
    const byte = bytes[targetEnd] ?? 0
    const kind = kindOf[byte] ?? kinds.special
    highest |= byte
    if (kind === kinds.special || (before === kinds.slash && kind !== kinds.plain)) hasPlainTarget = false
    before = kind
  }
  if (targetEnd === length) return undefined
  if (targetEnd === methodEnd + 1) throw malformedLine()
  const minorVersion = readVersion(targetEnd)
  if (minorVersion === undefined) return undefined
  return {
    methodEnd,
    targetEnd,
    minorVersion,
    hasPlainTarget,
    hasHighBytes: highest > 0x7f,
    end: targetEnd + versionForm.length,
  }
}

/** The kinds of the bytes of a target. */
const kinds = { plain: 0, slash: 1, dot: 2, special: 3 } as const
const plainCharacters = "!$&'()*+,\\-0-9:=@A-Z_a-z~"
const plainCharacter = new RegExp(`[${plainCharacters}]`)
const kindOf = Uint8Array.from({ length: 256 }, (_, code) => {
  const character = String.fromCharCode(code)
  if (character === '/') return kinds.slash
  if (character === '.') return kinds.dot
  return plainCharacter.test(character) ? kinds.plain : kinds.special
})

const plainSegment = `[${plainCharacters}][.${plainCharacters}]*`
/** Matches a target that is a path which all servers read alike: see MarkedHead. */
export const plainTarget = new RegExp(`^/(?:${plainSegment}/)*(?:${plainSegment})?$`)

function endsTarget(byte: number | undefined): boolean {
  return byte === space || byte === cr || byte === lf
}

/**
 * @param from where the version begins, including the space before it
 * @returns undefined if it is incomplete
 */
function readVersion(from: number): number | undefined {
  const { bytes, length } = headBlock
  for (let index = 0; index < versionForm.length; index++) {
    if (from + index >= length) return undefined
    const byte = bytes[from + index]
    const isRight = index === minorAt ? byte === zero || byte === zero + 1 : byte === versionForm[index]
    if (!isRight) throw malformedLine()
  }
  return (bytes[from + minorAt] ?? 0) - zero
}

function malformedLine(): MalformedMessage {
  return new MalformedMessage('request-line', 'must be a method, a request target and HTTP/1.1 or HTTP/1.0')
}

/**
 * Percent-encodes the bytes above 0x7F of a target. A target is ASCII (RFC 9112 3.2), but many clients send such bytes
 * unencoded, and servers disagree about them, to the point of closing the connection.
 * @param target one character for each byte
 */
export function encodeHighBytes(target: string): string {
  if (!highByte.test(target)) return target
  // Not a regular expression: a callback for each of thousands of bytes takes 20 times as long.
  const sent = Buffer.from(target, 'latin1')
  const encoded = Buffer.allocUnsafe(3 * sent.length)
  let length = 0
  for (let index = 0; index < sent.length; index++) {
    const byte = sent[index] ?? 0
    if (byte < 0x80) encoded[length++] = byte
    else {
      encoded[length++] = percent
      encoded[length++] = hexDigits[byte >> 4] ?? 0
      encoded[length++] = hexDigits[byte & 0x0f] ?? 0
    }
  }
  return encoded.toString('latin1', 0, length)
}

const highByte = /[\u0080-\u00ff]/
const percent = 0x25
const hexDigits = Buffer.from('0123456789ABCDEF', 'latin1')
