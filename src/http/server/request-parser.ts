import { MarkedLines, readFieldLines } from '../message/field-lines.ts'
import { headBlock } from '../message/head-bytes.ts'
import { PartialHead } from '../message/kept-bytes.ts'
import type { NameTable } from '../message/name-table.ts'
import { ownedCopy } from '../read-memory.ts'
import { HeadTooLarge, MalformedMessage } from '../request-head.ts'
import { ParsedHead } from './marked-head.ts'
import { readMarkedFraming } from './request-framing.ts'
import { encodeHighBytes, type RequestLine, readRequestLine } from './request-line.ts'

export interface ParserOptions {
  /** The size of a complete head, including the empty line at its end. */
  readonly headBytesMax: number
  /** The fields whose lines are marked: called for each head. */
  names(): NameTable
}

const cr = 0x0d
const lf = 0x0a

/** The marked lines of a head that arrived all at once, as nearly all do, while it is parsed. */
const sharedLines = new MarkedLines()

/**
 * Parses the heads of requests (RFC 9112), strictly: a message that two parsers could understand differently is
 * rejected. The result does not depend on how the bytes are split into chunks. The request line is checked first, then
 * the fields in their order, then the size, then what the fields say together. Bytes that can no longer become a head
 * are rejected soon (PartialHead), not only when the request timeout expires.
 */
export class RequestParser {
  readonly #options: ParserOptions
  /** The received part of an incomplete head. */
  #partial: PartialHead | undefined
  #line: RequestLine | undefined
  #marked = sharedLines
  /** The table that the lines of this head are marked by. */
  #names: NameTable
  /** Where the next line begins in the received part. */
  #at = 0
  /** The bytes of empty lines before the head, which count towards its size. */
  #skipped = 0
  /** Once there is a head: where its body begins in the last chunk. */
  end = 0

  /** @param options read anew for each head */
  constructor(options: ParserOptions) {
    this.#options = options
    this.#names = options.names()
  }

  /** Whether a part of a head has arrived. */
  get isWithinHead(): boolean {
    return this.#partial !== undefined
  }

  /**
   * @returns the head once it is complete; what follows in the chunk begins at `end`
   * @throws MalformedMessage, HeadTooLarge: nothing that follows can be read
   */
  feed(chunk: Buffer): ParsedHead | undefined {
    const before = this.#partial?.length ?? 0
    const bytesMax = Math.max(0, this.#options.headBytesMax - this.#skipped)
    const all = this.#partial === undefined ? chunk : this.#partial.addPiece(chunk, bytesMax)
    if (all === undefined) return undefined
    const start = this.#line === undefined ? skipEmptyLines(all) : 0
    const room = Math.max(0, bytesMax - start)
    const bytes = start === 0 && all.length <= room ? all : all.subarray(start, start + room)
    if (this.#line === undefined) this.#begin()
    const line = this.#readLines(bytes)
    if (line === undefined) {
      if (all.length - start >= room) throw new HeadTooLarge()
      this.#keep(all, start)
      return undefined
    }
    this.end = start + this.#at + 2 - before
    return this.#takeHead(bytes, line)
  }

  #begin(): void {
    this.#names = this.#options.names()
    sharedLines.clear()
    this.#at = 0
  }

  /** Continues parsing where it stopped. @returns the request line, once the head is complete */
  #readLines(bytes: Buffer): RequestLine | undefined {
    headBlock.load(bytes)
    this.#line ??= readRequestLine()
    if (this.#line === undefined) return undefined
    if (this.#at === 0) this.#at = this.#line.end
    const at = readFieldLines(this.#at, this.#names, this.#marked)
    if (at === -1) {
      throw new MalformedMessage(
        'field-line',
        'must be a name, a colon and a value without control characters',
      )
    }
    this.#at = at
    return bytes[at] === cr && at + 2 <= bytes.length ? this.#line : undefined
  }

  /** Keeps the parsed part of an incomplete head. */
  #keep(all: Buffer, start: number): void {
    this.#skipped += start
    if (all.length === start) this.#partial = undefined
    else if (this.#partial === undefined || start > 0)
      this.#partial = new PartialHead(ownedCopy(all.subarray(start)))
    if (this.#line !== undefined && this.#marked === sharedLines) this.#marked = sharedLines.copy()
  }

  #takeHead(bytes: Buffer, line: RequestLine): ParsedHead {
    const { methodEnd, targetEnd, hasPlainTarget, minorVersion, hasHighBytes, end } = line
    this.#partial = undefined
    this.#line = undefined
    this.#skipped = 0
    const text = bytes.toString('latin1', 0, this.#at + 2)
    const target = text.slice(methodEnd + 1, targetEnd)
    const requestLine = {
      method: usualMethodOf(bytes, methodEnd) ?? text.slice(0, methodEnd),
      target: hasHighBytes ? encodeHighBytes(target) : target,
      hasPlainTarget,
      minorVersion,
    }
    const marked = this.#marked
    // A copy that was made for this head must not be kept until the next begins.
    this.#marked = sharedLines
    const framing = readMarkedFraming(marked, text, minorVersion)
    const lines = { text, fieldsStart: end, marked }
    return new ParsedHead(requestLine, framing, this.#names, lines)
  }
}

/** Empty lines before a request are skipped (RFC 9112 2.2). */
function skipEmptyLines(bytes: Buffer): number {
  let start = 0
  while (bytes[start] === cr && bytes[start + 1] === lf) start += 2
  return start
}

const get = Buffer.from('GET', 'latin1')
const post = Buffer.from('POST', 'latin1')

/** One shared string for all requests with it. */
function usualMethodOf(bytes: Uint8Array, end: number): string | undefined {
  if (end === 3 && beginsWith(bytes, get)) return 'GET'
  return end === 4 && beginsWith(bytes, post) ? 'POST' : undefined
}

function beginsWith(bytes: Uint8Array, text: Uint8Array): boolean {
  for (let index = 0; index < text.length; index++) if (bytes[index] !== text[index]) return false
  return true
}
