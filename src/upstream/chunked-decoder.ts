import { InvalidResponse } from './failure.ts'
import { isTooLong, parseFieldLines } from './field-lines.ts'

const sizeLineBytesMax = 4_096
const trailerBytesMax = 16_384
const lineEnd = '\r\n'
const sectionEnd = '\r\n\r\n'
// Size, and extensions, which are allowed and ignored (RFC 9112 7.1.1).
const sizeLine = /^([0-9A-Fa-f]{1,13})[ \t]*(?:;[\t\x20-\x7e\x80-\xff]*)?$/

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

  /** @returns what came after the end. @throws InvalidResponse */
  feed(chunk: Buffer): Buffer {
    let rest = this.#pending ? Buffer.concat([this.#pending, chunk]) : chunk
    this.#pending = undefined
    while (rest.length > 0 && this.trailers === undefined) {
      const before = rest.length
      rest = this.#step(rest)
      if (rest.length === before) {
        // Only the start of a line: kept until there is more of it.
        this.#pending = rest
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
    if (isTooLong(bytes, end, lineEnd, sizeLineBytesMax))
      throw new InvalidResponse('a chunk size line too long')
    if (end === -1) return bytes
    const digits = sizeLine.exec(bytes.toString('latin1', 0, end))?.[1]
    if (digits === undefined) throw new InvalidResponse('a malformed chunk size')
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
    if (bytes[0] !== 0x0d || bytes[1] !== 0x0a) throw new InvalidResponse('a chunk longer than its size')
    this.#state = 'size'
    return bytes.subarray(2)
  }

  #readTrailers(bytes: Buffer): Buffer {
    const isEmpty = bytes[0] === 0x0d && bytes[1] === 0x0a
    const lastLine = isEmpty ? -2 : bytes.indexOf(sectionEnd)
    if (isTooLong(bytes, lastLine, sectionEnd, trailerBytesMax))
      throw new InvalidResponse('trailers too large')
    if (lastLine === -1) return bytes
    this.trailers = parseFieldLines(bytes.toString('latin1', 0, lastLine + 2))
    if (this.trailers === undefined) throw new InvalidResponse('a malformed trailer field')
    return bytes.subarray(lastLine + 4)
  }
}
