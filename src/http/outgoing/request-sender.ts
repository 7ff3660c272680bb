import type { Socket } from 'node:net'
import { smallChunkBytesMax } from '../read-memory.ts'
import type { BodyFraming } from '../request-head.ts'
import { mustWriteNow, writeDirectly } from '../socket-writes.ts'
import { type DeferredWrite, deferWrite } from '../turn.ts'
import { Unsent, type UpstreamFailure } from './failure.ts'
import { SentBody } from './sent-body.ts'

/**
 * Writes one request after another to a socket, at the end of the turn of the event loop. Small pieces of a body are
 * copied together with the text around them, as a second write costs far more.
 */
export class RequestSender implements DeferredWrite {
  readonly #socket: Socket
  readonly #isEncrypted: boolean
  #framing: BodyFraming = 'none'
  /** A head that waits for the part of its body that follows immediately, or for other writes. */
  #bufferedHead = ''
  /** A piece of a body that waits for other writes, with the text around it. */
  #bufferedPiece: Buffer | undefined
  /** Where the body begins in the buffered piece, and how many of its bytes there are. */
  #pieceStart = 0
  #pieceBytes = 0
  isDeferred = false
  /** Whether nothing of the request has been written, so that nothing can be a response to it. */
  isPending = false
  /** Whether the system has still to accept a head that bypasses the socket's stream. */
  isWriting = false

  constructor(socket: Socket) {
    this.#socket = socket
    this.#isEncrypted = 'encrypted' in socket
  }

  /** @param head with the empty line at its end, in Latin-1 */
  begin(head: string, body: BodyFraming): void {
    if (this.isDeferred) this.writeNow()
    this.#framing = body
    this.#bufferedHead = head
    this.isPending = true
    deferWrite(this)
  }

  /**
   * Writes a piece of the body.
   * @param chunk up to 16 KiB: valid until this returns; a longer one must not change before it is written
   * @returns false if more should wait for the socket's drain
   */
  write(chunk: Buffer): boolean {
    if (chunk.length === 0) return true
    if (this.#socket.destroyed) return this.#keep(chunk)
    if (this.#bufferedPiece !== undefined) this.writeNow()
    const isChunked = this.#framing === 'chunked'
    const before = isChunked ? `${this.#bufferedHead}${chunk.length.toString(16)}\r\n` : this.#bufferedHead
    this.#bufferedHead = ''
    if (chunk.length <= smallChunkBytesMax) return this.#writeJoined(before, chunk, isChunked ? '\r\n' : '')
    this.isPending = false
    return before === '' ? this.#socket.write(chunk) : this.#writeLarge(before, chunk)
  }

  /** The body is complete. @param trailers field lines; only chunks can carry them */
  end(trailers: string): void {
    if (this.#framing !== 'chunked') return
    this.writeNow()
    this.#socket.write(`0\r\n${trailers}\r\n`, 'latin1')
  }

  /**
   * @param isComplete whether the body is complete
   * @returns undefined if something of the request was written
   */
  unsent(cause: UpstreamFailure, isComplete: boolean): Unsent | undefined {
    if (!this.isPending) return undefined
    if (this.#framing === 'none') return new Unsent(cause, undefined)
    const body = new SentBody()
    const start = this.#pieceStart
    const taken = this.#bufferedPiece?.subarray(start, start + this.#pieceBytes)
    // A copy, as its memory is reused.
    if (taken) body.add(Buffer.from(taken))
    if (isComplete) body.finish('')
    return new Unsent(cause, body)
  }

  #writeJoined(before: string, chunk: Buffer, after: string): boolean {
    const bytes = before.length + chunk.length + after.length
    // A socket that cannot write at once holds on to the memory; with TLS it always does for a while.
    const isShared = this.#socket.writableLength === 0 && !this.#isEncrypted
    const piece = isShared ? takeMemory(bytes) : Buffer.allocUnsafe(bytes)
    let end = piece.write(before, 0, 'latin1')
    this.#pieceStart = end
    this.#pieceBytes = chunk.length
    end += chunk.copy(piece, end)
    if (after !== '') piece.write(after, end, 'latin1')
    this.#bufferedPiece = piece
    if (mustWriteNow(this.#socket, bytes)) return this.#writePiece(piece)
    deferWrite(this)
    return true
  }

  #writePiece(piece: Buffer): boolean {
    const socket = this.#socket
    this.#bufferedPiece = undefined
    this.isPending = false
    const isFlowing = !socket.destroyed && socket.write(piece)
    releaseMemory(piece, socket.writableLength > 0)
    return isFlowing
  }

  #writeLarge(before: string, chunk: Buffer): boolean {
    const socket = this.#socket
    if (this.#framing !== 'chunked') {
      // Not corked: two plain writes take less time than one of both.
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

  /** Writes what was deferred, before anything else happens on the connection. */
  writeNow(): void {
    this.isDeferred = false
    const head = this.#bufferedHead
    const piece = this.#bufferedPiece
    if (this.#socket.destroyed) this.#keepPiece()
    else if (piece !== undefined) this.#writePiece(piece)
    else if (head !== '') {
      this.#bufferedHead = ''
      this.isPending = false
      this.#writeHead(head)
    }
  }

  #writeHead(head: string): void {
    // While a body is sent, failed writes have to reach the stream (catchWriteErrors).
    const isWritten =
      this.#framing === 'none' ? writeDirectly(this.#socket, head, this.#onWritten) : undefined
    if (isWritten === undefined) this.#socket.write(head, 'latin1')
    else this.isWriting = !isWritten
  }

  readonly #onWritten = (): void => {
    this.isWriting = false
  }

  /** The connection is lost, and will soon report it. One piece is kept for another connection; several are not. */
  #keep(chunk: Buffer): false {
    if (this.#bufferedPiece !== undefined) this.isPending = false
    else {
      this.#bufferedPiece = Buffer.from(chunk)
      this.#pieceStart = 0
      this.#pieceBytes = chunk.length
    }
    return false
  }

  /** The connection is lost: pending data is moved to memory of its own. */
  #keepPiece(): void {
    const piece = this.#bufferedPiece
    if (piece === undefined) return
    this.#bufferedPiece = Buffer.from(piece)
    releaseMemory(piece, false)
  }
}

/** Room for the small parts of one turn of the event loop; once it is used up, a part gets memory of its own. */
const sharedBytes = 32 * smallChunkBytesMax

let shared = Buffer.allocUnsafeSlow(sharedBytes)
let usedBytes = 0
let partsInUse = 0

/** Memory for a part of a request until it is written, nearly always from the block that all connections share. */
function takeMemory(bytes: number): Buffer {
  if (usedBytes + bytes > sharedBytes) return Buffer.allocUnsafe(bytes)
  const part = shared.subarray(usedBytes, usedBytes + bytes)
  usedBytes += bytes
  partsInUse++
  return part
}

/**
 * Releases a part that was written. Once all parts are, their memory is reused.
 * @param isKept whether the socket still needs it, as the system did not accept all of it
 */
function releaseMemory(part: Buffer, isKept: boolean): void {
  if (part.buffer !== shared.buffer) return
  if (isKept) {
    shared = Buffer.allocUnsafeSlow(sharedBytes)
    usedBytes = 0
    partsInUse = 0
  } else if (--partsInUse === 0) usedBytes = 0
}
