import { parseDigits, valueCharacters } from '../http1/characters.ts'
import { readFieldLines, skip } from '../http1/field-lines.ts'
import { InvalidResponse } from './failure.ts'

/** The head of a response, as it was sent. */
export interface ResponseHead {
  readonly status: number
  readonly reason: string
  /** Name, value, name, value: in their order and case. */
  readonly headers: readonly string[]
  /** Set where the one before on its connection was the same, byte for byte. */
  readonly repeated: RepeatedResponse | undefined
}

/** Belongs to a head that repeats: what was derived from it can be kept here, and goes with it. */
export interface RepeatedResponse {
  /** For proxy/kept-lines.ts alone. */
  derived: object | undefined
}

export const headEnd = '\r\n\r\n'

const versionPrefix = Buffer.from('HTTP/1.')
/** The index of the minor version in a status line. */
const versionAt = versionPrefix.length
/** The index of the status, and of the byte after it, which shows whether a reason follows. */
const statusAt = 9
const statusEnd = 12
const lf = 0x0a
const cr = 0x0d
const space = 0x20

/**
 * The status line and the fields of a head, or of its first lines.
 * @param bytes lines, each ended by CR LF @throws InvalidResponse
 */
export function parseHead(bytes: Buffer): ResponseHead {
  const text = bytes.toString('latin1')
  const end = bytes.indexOf(lf) + 1
  const status = readStatus(bytes, text)
  if (status === undefined || skip(bytes, statusEnd, valueCharacters) !== end - 2) throw notHttp()
  const headers: string[] = []
  if (end < bytes.length && readFieldLines({ bytes, text }, end, headers) !== bytes.length) {
    throw new InvalidResponse('a malformed header field')
  }
  return { status, reason: text.slice(statusEnd + 1, end - 2), headers, repeated: undefined }
}

/** RFC 9112 4: HTTP/1.1 or HTTP/1.0, one space, three digits; then a space and a reason, or nothing. */
function readStatus(bytes: Buffer, text: string): number | undefined {
  const status = parseDigits(text.slice(statusAt, statusEnd))
  const isVersion = text.startsWith('HTTP/1.1 ') || text.startsWith('HTTP/1.0 ')
  const isEnd = bytes[statusEnd] === space || bytes[statusEnd] === cr
  return isVersion && isEnd && status !== undefined && status >= 100 ? status : undefined
}

/** Whether a head says HTTP/1.0. */
export function isHttp10(bytes: Buffer): boolean {
  return bytes[versionAt] === 0x30
}

/**
 * The index of the CR LF CR LF that ends a head; -1 where it has not arrived.
 * @param from where to begin: earlier bytes were searched already. Buffer.indexOf takes five times as long
 */
export function findHeadEnd(bytes: Buffer, from: number): number {
  const last = bytes.length - headEnd.length
  for (let at = from; at <= last; at++) {
    if (bytes[at] !== cr || bytes[at + 1] !== lf) continue
    if (bytes[at + 2] === cr && bytes[at + 3] === lf) return at
  }
  return -1
}

/** Rejects at once what cannot become a response, instead of after the response timeout. @throws InvalidResponse */
export function assertHeadPrefix(bytes: Buffer): void {
  const length = Math.min(bytes.length, versionPrefix.length)
  if (bytes.compare(versionPrefix, 0, length, 0, length) !== 0) throw notHttp()
  const end = bytes.lastIndexOf(lf) + 1
  if (end > 0) parseHead(bytes.subarray(0, end))
}

function notHttp(): InvalidResponse {
  return new InvalidResponse('no HTTP/1.1 status line')
}
