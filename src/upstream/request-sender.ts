import type { Socket } from 'node:net'

/** Up to here to copy what is to be sent together costs less than to write it in two pieces. */
const joinedBytesMax = 4_096

/** Writes one request after the other to a socket. */
export class RequestSender {
  readonly #socket: Socket
  #isChunked = false
  /** A head that waits for what comes at once of its body. */
  #held = ''

  constructor(socket: Socket) {
    this.#socket = socket
  }

  /** @param head with the empty line at its end, in Latin-1 */
  begin(head: string, body: 'none' | 'counted' | 'chunked'): void {
    this.#isChunked = body === 'chunked'
    if (body === 'none') {
      this.#socket.write(head, 'latin1')
      return
    }
    this.#held = head
    process.nextTick(this.#letGo)
  }

  /** A piece of the body. @returns false where more should wait for the socket's drain */
  write(chunk: Buffer): boolean {
    if (chunk.length === 0) return true
    if (chunk.length <= joinedBytesMax && (this.#isChunked || this.#held !== ''))
      return this.#writeJoined(chunk)
    this.#letGo()
    if (!this.#isChunked) return this.#socket.write(chunk)
    this.#socket.cork()
    this.#socket.write(`${chunk.length.toString(16)}\r\n`, 'latin1')
    this.#socket.write(chunk)
    const isFlowing = this.#socket.write('\r\n', 'latin1')
    this.#socket.uncork()
    return isFlowing
  }

  /** The body is whole. @param trailers field lines, each ended by CR LF; only chunks can carry them */
  end(trailers: string): void {
    this.#letGo()
    if (this.#isChunked) this.#socket.write(`0\r\n${trailers}\r\n`, 'latin1')
  }

  #writeJoined(chunk: Buffer): boolean {
    const before = this.#isChunked ? `${this.#held}${chunk.length.toString(16)}\r\n` : this.#held
    const after = this.#isChunked ? '\r\n' : ''
    this.#held = ''
    const joined = Buffer.allocUnsafe(before.length + chunk.length + after.length)
    joined.write(before, 'latin1')
    joined.set(chunk, before.length)
    joined.write(after, before.length + chunk.length, 'latin1')
    return this.#socket.write(joined)
  }

  readonly #letGo = (): void => {
    const head = this.#held
    this.#held = ''
    if (head !== '' && !this.#socket.destroyed) this.#socket.write(head, 'latin1')
  }
}
