import { isTooLong, parseFieldLines } from './field-lines.ts'
import { MalformedMessage } from './malformed.ts'

/** Any size of so many hexadecimal digits is exact as a number. */
const sizeDigitsMax = 13
const trailerBytesMax = 16_384
const size = /^[0-9A-Fa-f]{1,13}$/
const partOfSize = /^[0-9A-Fa-f]{0,13}\r?$/
const lineEnd = '\r\n'
const sectionEnd = '\r\n\r\n'

type State = 'size' | 'data' | 'data-end' | 'trailers'

/** Takes the chunks off a body (RFC 9112 7.1), strictly. */
export class ChunkedDecoder {
  readonly #onData: (chunk: Buffer) => void
  #state: State = 'size'
  #remaining = 0
  #pending: Buffer | undefined
  /** Set once the body is whole. */
  trailers: readonly string[] | undefined

  constructor(onData: (chunk: Buffer) => void) {
    this.#onData = onData
  }

  /** @returns what came after the end. @throws MalformedMessage */
  feed(chunk: Buffer): Buffer {
    let rest = this.#pending ? Buffer.concat([this.#pending, chunk]) : chunk
    this.#pending = undefined
    while (rest.length > 0 && this.trailers === undefined) {
      const before = rest.length
      rest = this.#step(rest)
      if (rest.length === before) {
        // Only the start of a line is here: it is kept, as a copy, since the chunk's memory may be overwritten.
        this.#pending = Buffer.from(rest)
        return rest.subarray(rest.length)
      }
    }
    return rest
  }

  #step(bytes: Buffer): Buffer {
    switch (this.#state) {
      case 'size':
        return this.#readSize(bytes)
      case 'data':
        return this.#readData(bytes)
      case 'data-end':
        return this.#readDataEnd(bytes)
      case 'trailers':
        return this.#readTrailers(bytes)
      default:
        return this.#state satisfies never
    }
  }

  #readSize(bytes: Buffer): Buffer {
    const end = bytes.indexOf(lineEnd)
    // A part of a line is checked too: a client that sends anything else is refused at once.
    const digits = bytes.toString('latin1', 0, end === -1 ? Math.min(bytes.length, sizeDigitsMax + 2) : end)
    if (end === -1) {
      if (!partOfSize.test(digits))
        throw new MalformedMessage('chunk', 'has a malformed size, or an extension')
      return bytes
    }
    // No extensions (RFC 9112 7.1.1): no client needs them, and servers disagree about where they end.
    if (!size.test(digits)) throw new MalformedMessage('chunk', 'has a malformed size, or an extension')
    this.#remaining = Number.parseInt(digits, 16)
    this.#state = this.#remaining === 0 ? 'trailers' : 'data'
    return bytes.subarray(end + 2)
  }

  #readData(bytes: Buffer): Buffer {
    const data = bytes.length > this.#remaining ? bytes.subarray(0, this.#remaining) : bytes
    this.#remaining -= data.length
    if (this.#remaining === 0) this.#state = 'data-end'
    this.#onData(data)
    return bytes.subarray(data.length)
  }

  #readDataEnd(bytes: Buffer): Buffer {
    if (bytes.length < 2) return bytes
    if (bytes[0] !== 0x0d || bytes[1] !== 0x0a) throw new MalformedMessage('chunk', 'is longer than its size')
    this.#state = 'size'
    return bytes.subarray(2)
  }

  #readTrailers(bytes: Buffer): Buffer {
    const isEmpty = bytes[0] === 0x0d && bytes[1] === 0x0a
    const lastLine = isEmpty ? -2 : bytes.indexOf(sectionEnd)
    if (isTooLong(bytes, lastLine, sectionEnd, trailerBytesMax))
      throw new MalformedMessage('trailer', 'takes too much room')
    if (lastLine === -1) return bytes
    this.trailers = parseFieldLines(bytes.subarray(0, lastLine + 2))
    if (this.trailers === undefined) throw new MalformedMessage('trailer', 'is not well-formed')
    return bytes.subarray(lastLine + 4)
  }
}
