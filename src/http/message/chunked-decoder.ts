import { restOf, smallChunkBytesMax } from '../read-memory.ts'
import { MalformedMessage } from '../request-head.ts'
import { parseFieldLines } from './field-lines.ts'
import { KeptBytes } from './kept-bytes.ts'

/** With this many hexadecimal digits, any size is exact as a number. */
const sizeDigitsMax = 13
const trailerBytesMax = 16_384
/** After this many chunks in one read the connection yields to others. */
export const chunksPerTurnMax = 1_000
const sectionEnd = '\r\n\r\n'
const cr = 0x0d
const lf = 0x0a

/** The value of a hexadecimal digit; 255 = not a digit. */
const digitValues = new Uint8Array(256).fill(255)
for (const [value, digits] of [...'0123456789abcdef'].entries())
  for (const digit of [digits, digits.toUpperCase()]) digitValues[digit.charCodeAt(0)] = value

type State = 'size' | 'data' | 'data-end' | 'trailers'

/**
 * Decodes a chunked body (RFC 9112 7.1), strictly. Small chunks that arrive together are delivered together, as
 * delivering each would cost a thousand times as much as a byte.
 */
export class ChunkedDecoder {
  readonly #onData: (chunk: Buffer) => void
  readonly #extensions: ChunkExtensions
  #state: State = 'size'
  #remaining = 0
  #pending: Buffer | undefined
  #partialTrailers: KeptBytes | undefined
  /** Index of the first data of this read that has not been delivered. */
  #from = 0
  #to = 0
  #joined: Buffer | undefined
  #joinedBytes = 0
  /** How many chunks the last read had. */
  chunksRead = 0
  /** Set once the body is complete. */
  trailers: readonly string[] | undefined

  /** @param extensions default: no limit on their total, as in responses */
  constructor(onData: (chunk: Buffer) => void, extensions = new ChunkExtensions(Number.POSITIVE_INFINITY)) {
    this.#onData = onData
    this.#extensions = extensions
  }

  /** @returns what came after the end. @throws MalformedMessage */
  feed(chunk: Buffer): Buffer {
    const bytes = this.#pending ? Buffer.concat([this.#pending, chunk]) : chunk
    this.#pending = undefined
    this.chunksRead = 0
    let at = 0
    try {
      while (at < bytes.length && this.trailers === undefined) {
        const next = this.#step(bytes, at)
        // Only the start of a line has arrived. Copied, as the chunk's memory may be overwritten.
        if (next === at) this.#pending = Buffer.from(bytes.subarray(at))
        at = next === at ? bytes.length : next
      }
    } finally {
      this.#deliver(bytes)
    }
    return restOf(bytes, at)
  }

  /** @returns where the next step begins; `at` if more has to arrive */
  #step(bytes: Buffer, at: number): number {
    switch (this.#state) {
      case 'size':
        return this.#readSize(bytes, at)
      case 'data':
        return this.#readData(bytes, at)
      case 'data-end':
        return this.#readDataEnd(bytes, at)
      case 'trailers':
        return this.#readTrailers(bytes, at)
      default:
        return this.#state satisfies never
    }
  }

  #readSize(bytes: Buffer, at: number): number {
    let end = at
    let size = 0
    for (let value = digitAt(bytes, at); value !== 255; value = digitAt(bytes, ++end))
      size = size * 16 + value
    // A partial line is checked too, so that a client that sends anything else is refused at once.
    if (end - at > sizeDigitsMax || (end === at && end < bytes.length)) throw malformedSize()
    const next = bytes[end] === cr ? end + 1 : this.#extensions.skip(bytes, end)
    if (next >= bytes.length) return at
    if (bytes[next] !== lf) throw malformedSize()
    this.#remaining = size
    this.#state = size === 0 ? 'trailers' : 'data'
    this.chunksRead++
    return next + 1
  }

  #readData(bytes: Buffer, at: number): number {
    const end = Math.min(bytes.length, at + this.#remaining)
    this.#remaining -= end - at
    if (this.#remaining === 0) this.#state = 'data-end'
    this.#extensions.countData(end - at)
    this.#join(bytes, at, end)
    return end
  }

  #join(bytes: Buffer, from: number, to: number): void {
    const before = this.#joined ? this.#joinedBytes : this.#to - this.#from
    if (before > 0 && before + to - from <= smallChunkBytesMax) {
      if (!this.#joined) {
        this.#joined = Buffer.allocUnsafeSlow(smallChunkBytesMax)
        this.#joinedBytes = bytes.copy(this.#joined, 0, this.#from, this.#to)
      }
      this.#joinedBytes += copy(bytes, { from, to }, this.#joined, this.#joinedBytes)
      return
    }
    this.#deliver(bytes)
    this.#from = from
    this.#to = to
  }

  #deliver(bytes: Buffer): void {
    const data = this.#joined?.subarray(0, this.#joinedBytes) ?? bytes.subarray(this.#from, this.#to)
    this.#joined = undefined
    this.#from = 0
    this.#to = 0
    if (data.length > 0) this.#onData(data)
  }

  #readDataEnd(bytes: Buffer, at: number): number {
    if (at + 1 >= bytes.length) return at
    if (bytes[at] !== cr || bytes[at + 1] !== lf)
      throw new MalformedMessage('chunk', 'has more data than its size says')
    this.#state = 'size'
    return at + 2
  }

  #readTrailers(chunk: Buffer, at: number): number {
    const before = this.#partialTrailers?.length ?? 0
    const piece = chunk.subarray(at)
    const bytes = this.#partialTrailers?.add(piece) ?? piece
    const isEmpty = bytes[0] === cr && bytes[1] === lf
    const lastLine = isEmpty ? -2 : bytes.indexOf(sectionEnd, Math.max(0, before - sectionEnd.length + 1))
    const isTooLarge =
      lastLine === -1 ? bytes.length >= trailerBytesMax + sectionEnd.length : lastLine > trailerBytesMax
    if (isTooLarge) throw new MalformedMessage('trailer', 'is too large')
    if (lastLine === -1) {
      this.#partialTrailers ??= new KeptBytes(Buffer.from(piece))
      return chunk.length
    }
    this.trailers = parseFieldLines(bytes.subarray(0, lastLine + 2))
    if (this.trailers === undefined) throw new MalformedMessage('trailer', 'is not well-formed')
    return at + lastLine + 4 - before
  }
}

function digitAt(bytes: Buffer, at: number): number {
  return digitValues[bytes[at] ?? 0] ?? 255
}

/** A loop, as most chunks have a few bytes. @returns the number of bytes copied */
function copy(
  bytes: Buffer,
  { from, to }: { readonly from: number; readonly to: number },
  target: Buffer,
  start: number,
): number {
  if (to - from > 16) return bytes.copy(target, start, from, to)
  for (let index = from; index < to; index++) target[start + index - from] = bytes[index] ?? 0
  return to - from
}

function malformedSize(): MalformedMessage {
  return new MalformedMessage('chunk', 'has a malformed size')
}

/** Limit for the extensions of one chunk. */
const lineBytesMax = 256
const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const quoted = '"(?:[\\t !#-\\[\\]-~\\x80-\\xff]|\\\\[\\t -~\\x80-\\xff])*"'
const wellFormed = new RegExp(`^(?:[ \\t]*;[ \\t]*${token}(?:[ \\t]*=[ \\t]*(?:${token}|${quoted}))?)+$`)
const beginning = /^[\t -~\x80-\xff]*$/

/**
 * Skips chunk extensions, which no part of the gateway uses (RFC 9112 7.1.1). They are parsed strictly, so that no two
 * parsers can disagree about where they end. They are never forwarded, as chunks are encoded again.
 */
export class ChunkExtensions {
  #bytesLeft: number

  /** @param bytesMax how many bytes of extensions are allowed beyond those of data */
  constructor(bytesMax: number) {
    this.#bytesLeft = bytesMax
  }

  countData(bytes: number): void {
    this.#bytesLeft += bytes
  }

  /**
   * @param at where they begin, right after the size
   * @returns the index after the CR that ends them; the number of bytes if more has to arrive
   * @throws MalformedMessage
   */
  skip(bytes: Buffer, at: number): number {
    if (at >= bytes.length) return bytes.length
    const end = bytes.indexOf(cr, at)
    const length = (end === -1 ? bytes.length : end) - at
    if (length > lineBytesMax) throw malformed()
    const text = bytes.toString('latin1', at, at + length)
    if (end === -1) {
      if (!beginning.test(text)) throw malformed()
      return bytes.length
    }
    if (!wellFormed.test(text)) throw malformed()
    // Counted once the line is complete, as it is not read again then.
    if (end + 1 < bytes.length) this.#bytesLeft -= length
    if (this.#bytesLeft < 0) throw malformed()
    return end + 1
  }
}

function malformed(): MalformedMessage {
  return new MalformedMessage('chunk', 'has a malformed or too long chunk extension')
}
