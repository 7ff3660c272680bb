import { HeadTooLarge, MalformedMessage } from '../exchange/malformed-message.ts'
import type { RequestHead } from '../exchange/request-head.ts'
import { readFieldLines } from './field-lines.ts'
import type { HeadCache, HeadFields } from './head-cache.ts'
import type { KnownLine } from './line-cache.ts'
import { ownedCopy } from './read-buffers.ts'
import { readRequestFraming } from './request-framing.ts'
import { type RequestLine, readRequestLine } from './request-line.ts'

export interface ParserOptions {
  /** The size of a complete head, with the empty line at its end. */
  readonly headBytesMax: number
  /** Shared by all connections. */
  readonly headCache: HeadCache
}

/**
 * Parses the heads of requests (RFC 9112), strictly: a message that two parsers could understand differently is
 * rejected. The result does not depend on how the bytes are split into chunks. The request line is checked first, then
 * the fields in their order, then the size, then what the fields say together. Bytes that can no longer become a head
 * are rejected at once, not only when the request timeout ends.
 */
export class RequestParser {
  readonly #options: ParserOptions
  /** What has arrived of an incomplete head. */
  #partial: Buffer | undefined
  /** Parsed from that: its request line, its complete fields, and the index where the rest begins. */
  #line: RequestLine | undefined
  #fields: string[] = []
  #at = 0
  /** All of the head, where its fields arrived in one piece, and end with an empty line. */
  #wholeHead: Buffer | undefined
  /** The request line, if cached. */
  #knownLine: KnownLine | undefined
  /** The fields, if cached. */
  #cached: HeadFields | undefined
  /** The bytes of the empty lines before the head: they count towards its size. */
  #skipped = 0
  /** Once there is a head: where the body begins in the chunk that was fed last. */
  end = 0

  /** @param options read again for each head */
  constructor(options: ParserOptions) {
    this.#options = options
  }

  /** Whether a part of a head has arrived. */
  get isWithinHead(): boolean {
    return this.#partial !== undefined
  }

  /**
   * @returns the head once it is complete; what follows in the chunk begins at `end`
   * @throws MalformedMessage, HeadTooLarge: nothing that follows can be read
   */
  feed(chunk: Buffer): RequestHead | undefined {
    const partial = this.#partial
    const all = partial === undefined ? chunk : Buffer.concat([partial, chunk])
    const start = skipEmptyLines(all)
    const room = Math.max(0, this.#options.headBytesMax - this.#skipped - start)
    const bytes = withoutBody(start === 0 && all.length <= room ? all : all.subarray(start, start + room))
    if (!this.#readLines(bytes)) {
      if (all.length - start >= room) throw new HeadTooLarge()
      this.#skipped += start
      this.#partial = all.length === start ? undefined : ownedCopy(all.subarray(start))
      return undefined
    }
    this.end = start + this.#at + 2 - (partial?.length ?? 0)
    return this.#takeHead()
  }

  /** Reads on from where it stopped. @returns whether the head is complete */
  #readLines(bytes: Buffer): boolean {
    const { lines: knownLines } = this.#options.headCache
    if (this.#line === undefined) {
      this.#knownLine = knownLines.find(bytes)
      if (this.#knownLine && this.#findCached(bytes, this.#knownLine)) return true
    }
    const lines = { bytes, text: bytes.toString('latin1') }
    if (this.#line === undefined) {
      const line = readRequestLine(lines)
      if (line === undefined) return false
      knownLines.keep(line)
      if (this.#findCached(bytes, line)) return true
    }
    const at = readFieldLines(lines, this.#at, this.#fields)
    if (at === -1) throw malformedField()
    this.#at = at
    return bytes[at] === 0x0d && at + 2 <= bytes.length
  }

  /** Whether all that follows the request line is there and cached. HTTP/1.0 has other framing rules. */
  #findCached(bytes: Buffer, line: RequestLine): boolean {
    this.#line = line
    this.#at = line.end + 2
    if (line.minorVersion !== 1 || !endsWithEmptyLine(bytes)) return false
    this.#wholeHead = bytes
    this.#cached = this.#options.headCache.find(bytes, this.#at)
    if (this.#cached === undefined) return false
    this.#at = bytes.length - 2
    return true
  }

  #takeHead(): RequestHead | undefined {
    const line = this.#line
    if (line === undefined) return undefined
    const { rawHeaders, body, isPersistent, expectsContinue, upgrade, repeated } =
      this.#cached ?? this.#makeFields(line)
    this.#partial = undefined
    this.#line = undefined
    // The array is the head's own where it was read.
    if (this.#cached === undefined) this.#fields = []
    this.#at = 0
    this.#wholeHead = undefined
    this.#cached = undefined
    this.#skipped = 0
    const repeatedLine = this.#knownLine
    this.#knownLine = undefined
    const { method, target, minorVersion } = line
    return {
      method,
      target,
      minorVersion,
      rawHeaders,
      body,
      isPersistent,
      expectsContinue,
      upgrade,
      repeated,
      repeatedLine,
    }
  }

  #makeFields({ minorVersion, end }: RequestLine): HeadFields {
    const rawHeaders = this.#fields
    const { body, isPersistent, expectsContinue, upgrade } = readRequestFraming(rawHeaders, minorVersion)
    const fields = { rawHeaders, body, isPersistent, expectsContinue, upgrade, repeated: undefined }
    const whole = this.#wholeHead
    if (whole?.length === this.#at + 2) this.#options.headCache.add(whole, end + 2, fields)
    return fields
  }
}

/** The bytes up to the first empty line, if any: a body must not be turned into text, nor be part of what is cached. */
function withoutBody(bytes: Buffer): Buffer {
  if (endsWithEmptyLine(bytes)) return bytes
  const end = bytes.indexOf(emptyLine)
  return end === -1 ? bytes : bytes.subarray(0, end + emptyLine.length)
}

function endsWithEmptyLine(bytes: Buffer): boolean {
  const { length } = bytes
  return (
    bytes[length - 1] === 0x0a &&
    bytes[length - 2] === 0x0d &&
    bytes[length - 3] === 0x0a &&
    bytes[length - 4] === 0x0d
  )
}

const emptyLine = Buffer.from('\r\n\r\n', 'latin1')

/** Empty lines before a request are skipped (RFC 9112 2.2). */
function skipEmptyLines(bytes: Buffer): number {
  let start = 0
  while (bytes[start] === 0x0d && bytes[start + 1] === 0x0a) start += 2
  return start
}

function malformedField(): MalformedMessage {
  return new MalformedMessage('field-line', 'must be a name, a colon and a value without control characters')
}
