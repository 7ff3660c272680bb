import type { Socket } from 'node:net'

/** How the end of a response's body is told. */
export type ResponseFraming =
  /** There is no body, whatever the head says: HEAD, 204, 304. */
  | 'none'
  /** As its Content-Length says, which whoever writes it sees to. */
  | 'counted'
  | 'chunked'
  /** By the end of the connection: all that HTTP/1.0 knows where the length is not known. */
  | 'until-close'

/** Data up to this size are worth copying to save a write. */
const heldBytesMax = 16_384

/**
 * Writes one response after the other to a socket. What is small is held back until `flush`, so that head and
 * data leave in one piece; as text of one byte a character, which costs less to join than buffers.
 */
export class ResponseWriter {
  readonly #socket: Socket
  #held = ''
  #framing: ResponseFraming = 'none'
  /** Whether something of the present response has left. */
  hasBegun = false

  constructor(socket: Socket) {
    this.#socket = socket
  }

  /**
   * Begins a response, in the place of one of which nothing has left.
   * @param head with the empty line at its end, in Latin-1
   */
  begin(head: string, framing: ResponseFraming): void {
    this.#held = head
    this.#framing = framing
  }

  /** @returns false where more should wait until the socket has drained */
  write(chunk: Buffer): boolean {
    if (this.#framing === 'none' || chunk.length === 0) return true
    const isChunked = this.#framing === 'chunked'
    if (chunk.length > heldBytesMax) return this.#writeLarge(chunk, isChunked)
    const text = chunk.toString('latin1')
    this.#held += isChunked ? `${chunk.length.toString(16)}\r\n${text}\r\n` : text
    return this.#held.length <= heldBytesMax || this.flush()
  }

  /** Lets go what is held back. @returns false where more should wait until the socket has drained */
  flush(): boolean {
    const held = this.#held
    if (held === '') return true
    this.#held = ''
    this.hasBegun = true
    return this.#socket.write(held, 'latin1')
  }

  /**
   * The response is whole.
   * @param trailers field lines, each ended by CR LF; only chunks can carry them
   * @param onWritten called once the system has taken everything, or will not
   */
  end(trailers: string, onWritten: () => void): void {
    if (this.#framing === 'chunked') this.#held += `0\r\n${trailers}\r\n`
    this.#framing = 'none'
    this.hasBegun = false
    const held = this.#held
    this.#held = ''
    if (held === '' && this.#socket.writableLength === 0) onWritten()
    else this.#socket.write(held, 'latin1', onWritten)
  }

  #writeLarge(chunk: Buffer, isChunked: boolean): boolean {
    const socket = this.#socket
    if (!isChunked && this.#held === '') return socket.write(chunk)
    socket.cork()
    if (isChunked) this.#held += `${chunk.length.toString(16)}\r\n`
    this.flush()
    socket.write(chunk)
    if (isChunked) this.#held = '\r\n'
    const isFlowing = isChunked ? this.flush() : !socket.writableNeedDrain
    socket.uncork()
    return isFlowing
  }
}
