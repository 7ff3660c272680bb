import { MalformedMessage } from '../exchange/malformed-message.ts'
import { isToken } from './characters.ts'
import type { RawLines } from './field-lines.ts'

/** The first line of a request (RFC 9112 3). */
export interface RequestLine {
  readonly method: string
  /** Bytes above 0x7F are percent-encoded. */
  readonly target: string
  readonly minorVersion: number
  /** The index of the CR. */
  readonly end: number
}

const requestLineForm = 'must be a method, a request target and HTTP/1.1 or HTTP/1.0'

/** undefined where it is incomplete and may still become a request line. @throws MalformedMessage */
export function readRequestLine({ text }: RawLines): RequestLine | undefined {
  const lineEnd = text.indexOf('\n')
  if (lineEnd !== -1) return parseRequestLine(text, lineEnd - 1)
  assertRequestLinePrefix(text)
  return undefined
}

/** RFC 9112 3: a method, one space, a target, one space, the version. @param end the index of the CR */
function parseRequestLine(text: string, end: number): RequestLine {
  const methodEnd = text.indexOf(' ')
  const targetEnd = end - ' HTTP/1.1'.length
  const minorVersion = text.charCodeAt(end - 1) - 0x30
  const isVersion =
    text.startsWith(' HTTP/1.', targetEnd) &&
    (minorVersion === 0 || minorVersion === 1) &&
    methodEnd < targetEnd
  const method = text.slice(0, methodEnd)
  const target = text.slice(methodEnd + 1, targetEnd)
  // Some servers accept a lone CR as the end of the line, or a space as the end of the target.
  if (!isVersion || text.charCodeAt(end) !== 0x0d || !isToken(method) || !isWhole(target)) {
    throw new MalformedMessage('request-line', requestLineForm)
  }
  return { method, target: encodeHighBytes(target), minorVersion, end }
}

const highByte = /[\u0080-\u00ff]/

/**
 * Percent-encodes the bytes above 0x7F of a target: a target is ASCII (RFC 9112 3.2), but many clients send such bytes
 * as they are, and servers disagree about them, to the point of closing the connection.
 * @param target one character for each byte
 */
export function encodeHighBytes(target: string): string {
  if (!highByte.test(target)) return target
  return target.replaceAll(/[\u0080-\u00ff]/g, (byte) => highEscapes[byte.charCodeAt(0) - 0x80] ?? byte)
}

const highEscapes = Array.from(
  { length: 0x80 },
  (_, index) => `%${(0x80 + index).toString(16).toUpperCase()}`,
)

/** Other control characters make the target ambiguous, but not the line. */
function isWhole(target: string): boolean {
  return target !== '' && !target.includes(' ') && !target.includes('\r') && !target.includes('\n')
}

/** Checks an incomplete line: it has a method, and a CR only at its end. */
function assertRequestLinePrefix(text: string): void {
  const methodEnd = text.indexOf(' ')
  const cr = text.indexOf('\r')
  // Nothing, or the first half of an empty line.
  if (text === '' || text === '\r') return
  const isLineOpen = cr === -1 || (cr === text.length - 1 && methodEnd !== -1)
  if (isLineOpen && isToken(methodEnd === -1 ? text : text.slice(0, methodEnd))) return
  throw new MalformedMessage('request-line', requestLineForm)
}
