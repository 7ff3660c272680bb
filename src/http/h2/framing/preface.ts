import { preface as text } from '../../h1/preface.ts'
import { protocolError } from './errors.ts'

const preface = Buffer.from(text)

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
