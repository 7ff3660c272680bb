import { protocolError } from './protocol.ts'

/**
 * The beginning of an HTTP/2 connection (RFC 9113 3.4): a request line without fields, which no HTTP/1.1 client sends.
 */
export const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
/**
 * This much of it is also parsed as HTTP/1.1, so that an unfinished preface is treated like an unfinished head, but no
 * method is refused.
 */
const methodBytes = 3

/** Looks for the preface at the beginning of a connection, in whatever pieces it arrives. */
export class PrefaceReader {
  /** How much of it has arrived. */
  #length = 0
  isFound = false
  /** Whether the connection begins with something else. */
  isAbsent = false

  /** @returns what has to be parsed as HTTP/1.1; once the preface is found, what has to be parsed as HTTP/2 */
  read(chunk: Buffer): Buffer {
    const before = this.#length
    let end = 0
    while (end < chunk.length && chunk[end] === preface[this.#length]) {
      end++
      this.#length++
    }
    this.isFound = this.#length === preface.length
    if (this.isFound) return Buffer.concat([preface, chunk.subarray(end)])
    this.isAbsent = end < chunk.length
    const passedOn = Math.min(before, methodBytes)
    if (!this.isAbsent) return preface.subarray(passedOn, Math.min(this.#length, methodBytes))
    return passedOn === before ? chunk : Buffer.concat([preface.subarray(passedOn, before), chunk])
  }
}

/** What a client sends first (RFC 9113 3.4). */
export class Preface {
  #read = 0

  get isRead(): boolean {
    return this.#read === preface.length
  }

  /** @returns what follows it @throws ConnectionError */
  read(chunk: Buffer): Buffer {
    const end = Math.min(chunk.length, preface.length - this.#read)
    if (chunk.compare(preface, this.#read, this.#read + end, 0, end) !== 0)
      throw protocolError('the connection does not begin with the preface of HTTP/2')
    this.#read += end
    return chunk.subarray(end)
  }
}
