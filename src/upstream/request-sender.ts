import type { Socket } from 'node:net'
import { type DeferredWrite, deferWrite } from '../http1/deferred-writes.ts'
import { smallChunkBytesMax } from '../http1/response-writer.ts'

/** What is sent in one write is put together here: all sockets share it. */
let joined = Buffer.allocUnsafeSlow(2 * smallChunkBytesMax)

/**
 * Writes one request after the other to a socket. Small pieces of a body are copied, together with the text around
 * them, as a second write costs far more.
 */
export class RequestSender implements DeferredWrite {
  readonly #socket: Socket
  readonly #isEncrypted: boolean
  #isChunked = false
  /** A head that waits for the part of its body that follows at once, or for other writes. */
  #bufferedHead = ''

  constructor(socket: Socket) {
    this.#socket = socket
    this.#isEncrypted = 'encrypted' in socket
  }

  /** @param head with the empty line at its end, in Latin-1 */
  begin(head: string, body: 'none' | 'counted' | 'chunked'): void {
    this.#isChunked = body === 'chunked'
    this.#bufferedHead = head
    if (body === 'none') deferWrite(this)
    else process.nextTick(this.writeNow)
  }

  /** Whether nothing of the request was written yet: so nothing can be an answer to it. */
  get isPending(): boolean {
    return this.#bufferedHead !== ''
  }

  /**
   * A piece of the body.
   * @param chunk up to 16 KiB: valid until this returns; a longer one is not to be changed before it is written
   * @returns false where more should wait for the socket's drain
   */
  write(chunk: Buffer): boolean {
    if (chunk.length === 0) return true
    const isChunked = this.#isChunked
    const before = isChunked ? `${this.#bufferedHead}${chunk.length.toString(16)}\r\n` : this.#bufferedHead
    this.#bufferedHead = ''
    if (chunk.length <= smallChunkBytesMax) return this.#writeJoined(before, chunk, isChunked ? '\r\n' : '')
    return before === '' ? this.#socket.write(chunk) : this.#writeLarge(before, chunk)
  }

  /** The body is complete. @param trailers field lines, each ended by CR LF; only chunks can carry them */
  end(trailers: string): void {
    this.writeNow()
    if (this.#isChunked) this.#socket.write(`0\r\n${trailers}\r\n`, 'latin1')
  }

  #writeJoined(before: string, chunk: Buffer, after: string): boolean {
    const bytes = before.length + chunk.length + after.length
    const socket = this.#socket
    // A socket that cannot write at once keeps the memory; with TLS it always does for a while.
    const isShared = bytes <= joined.length && socket.writableLength === 0 && !this.#isEncrypted
    const memory = isShared ? joined : Buffer.allocUnsafe(bytes)
    let end = memory.write(before, 0, 'latin1')
    end += chunk.copy(memory, end)
    if (after !== '') end += memory.write(after, end, 'latin1')
    const isFlowing = socket.write(memory.subarray(0, end))
    if (isShared && socket.writableLength > 0) joined = Buffer.allocUnsafeSlow(joined.length)
    return isFlowing
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

  /** Writes the head, if it still waits. */
  readonly writeNow = (): void => {
    const head = this.#bufferedHead
    this.#bufferedHead = ''
    if (head !== '' && !this.#socket.destroyed) this.#socket.write(head, 'latin1')
  }
}
