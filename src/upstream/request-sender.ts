import type { Socket } from 'node:net'

/** Up to this size, copying two pieces into one costs less than two writes. */
const joinedBytesMax = 4_096

/** Writes one request after the other to a socket; small pieces are joined as text (see ResponseWriter). */
export class RequestSender {
  readonly #socket: Socket
  #isChunked = false
  /** A head that waits for the part of its body that follows at once. */
  #bufferedHead = ''

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
    this.#bufferedHead = head
    process.nextTick(this.#flush)
  }

  /** A piece of the body. @returns false where more should wait for the socket's drain */
  write(chunk: Buffer): boolean {
    if (chunk.length === 0) return true
    const isChunked = this.#isChunked
    const before = isChunked ? `${this.#bufferedHead}${chunk.length.toString(16)}\r\n` : this.#bufferedHead
    this.#bufferedHead = ''
    if (before === '') return this.#socket.write(chunk)
    if (chunk.length > joinedBytesMax) return this.#writeLarge(before, chunk)
    return this.#socket.write(`${before}${chunk.toString('latin1')}${isChunked ? '\r\n' : ''}`, 'latin1')
  }

  /** The body is complete. @param trailers field lines, each ended by CR LF; only chunks can carry them */
  end(trailers: string): void {
    this.#flush()
    if (this.#isChunked) this.#socket.write(`0\r\n${trailers}\r\n`, 'latin1')
  }

  #writeLarge(before: string, chunk: Buffer): boolean {
    const socket = this.#socket
    if (!this.#isChunked) {
      // Corked they would be sent in one system call, which costs more than two plain writes.
      socket.write(before, 'latin1')
      return socket.write(chunk)
    }
    socket.cork()
    socket.write(before, 'latin1')
    socket.write(chunk)
    const isFlowing = socket.write('\r\n', 'latin1')
    socket.uncork()
    return isFlowing
  }

  readonly #flush = (): void => {
    const head = this.#bufferedHead
    this.#bufferedHead = ''
    if (head !== '' && !this.#socket.destroyed) this.#socket.write(head, 'latin1')
  }
}
