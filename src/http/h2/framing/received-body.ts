import { joinedBytesMax } from '../../message/kept-bytes.ts'
import { ByteQueue } from './byte-queue.ts'
import { errorCode } from './protocol.ts'
import type { StreamConnection, StreamEvents } from './streams.ts'

const pieceBytesMax = 65_536
const none: readonly string[] = []

/** The stream that receives the body. */
interface ReceivingStream {
  readonly id: number
  readonly isClosed: boolean
  readonly events: StreamEvents | undefined
  refuse(code: number): void
  closeIfEnded(): void
}

/** The body that a stream receives: passed on as it arrives, or held back, up to the size of its window. */
export class ReceivedBody {
  readonly #stream: ReceivingStream
  readonly #connection: StreamConnection
  /** The rest of its Content-Length in bytes; undefined = unknown. */
  expectedBytes: number | undefined
  /** Whether its last frame has arrived. */
  hasEnded = false
  /** Whether its end has been reported. */
  isRead = false
  #isPaused = true
  #isResuming = false
  #held: ByteQueue | undefined
  #bytes = 0
  /** The number of the connection's read that brought the last piece. */
  #readNumber = 0
  #trailers = none
  /** How much the peer may still send, and how much has been read without the peer knowing. */
  #window: number
  #unreported = 0
  /** What is left of the current frame without its data so far: at its end, the padding. */
  #padding = 0

  constructor(stream: ReceivingStream, connection: StreamConnection) {
    this.#stream = stream
    this.#connection = connection
    this.#window = connection.receiveWindow
  }

  resume(): void {
    this.#isPaused = false
    if (this.#isResuming || this.isRead || (!this.hasEnded && this.#held === undefined)) return
    this.#isResuming = true
    process.nextTick(() => this.#deliver())
  }

  pause(): void {
    this.#isPaused = true
  }

  /** A DATA frame begins. @returns false if the stream does not accept it */
  begin(length: number): boolean {
    this.#window -= length
    if (!this.hasEnded && this.#window >= 0) {
      this.#padding = length
      return true
    }
    this.#stream.refuse(this.hasEnded ? errorCode.streamClosed : errorCode.flowControlError)
    return false
  }

  /** @returns whether the chunk is released */
  add(chunk: Buffer): boolean {
    this.#padding -= chunk.length
    this.#bytes += chunk.length
    if (this.expectedBytes !== undefined && this.#bytes > this.expectedBytes) {
      this.#stream.refuse(errorCode.protocolError)
      return true
    }
    // Small pieces of one read are joined, as each piece that is passed on is written separately.
    const isJoined = this.#readNumber === this.#connection.readNumber && chunk.length <= joinedBytesMax
    this.#readNumber = this.#connection.readNumber
    if (!this.#isPaused && !this.#isResuming && this.#held === undefined && !isJoined) {
      this.#read(chunk)
      return this.#stream.events?.isReleased() ?? true
    }
    this.#held ??= new ByteQueue()
    this.#held.add(chunk)
    if (!this.#isPaused) this.resume()
    return true
  }

  /** A frame ends. */
  endFrame(isLast: boolean): void {
    this.#report(this.#padding)
    this.#padding = 0
    if (isLast) this.end(none)
  }

  /** The whole body has arrived. @param trailers name, value, name, value */
  end(trailers: readonly string[]): void {
    if (this.expectedBytes !== undefined && this.#bytes !== this.expectedBytes) {
      this.#stream.refuse(errorCode.protocolError)
      return
    }
    this.hasEnded = true
    this.#trailers = trailers
    if (!this.#isPaused && !this.#isResuming && this.#held === undefined) this.#onEnd()
  }

  /** There is no body. */
  skip(): void {
    this.hasEnded = true
    this.isRead = true
  }

  /** Drops the body, which nobody will read. */
  drop(): void {
    this.#held = undefined
    this.isRead = true
  }

  #deliver(): void {
    this.#isResuming = false
    const held = this.#held
    while (held !== undefined && held.length > 0) {
      if (this.#isPaused || this.isRead) return
      const piece = held.peek(pieceBytesMax)
      held.drop(piece.length)
      this.#read(piece)
    }
    this.#held = undefined
    if (this.hasEnded && !this.#isPaused && !this.isRead) this.#onEnd()
  }

  #read(chunk: Buffer): void {
    this.#report(chunk.length)
    this.#stream.events?.onData(chunk)
  }

  #report(bytes: number): void {
    this.#unreported += bytes
    if (this.#unreported < this.#connection.receiveWindow / 2 || this.hasEnded || this.#stream.isClosed)
      return
    this.#window += this.#unreported
    this.#connection.writeWindowUpdate(this.#stream.id, this.#unreported)
    this.#unreported = 0
  }

  #onEnd(): void {
    this.isRead = true
    this.#stream.events?.onEnd(this.#trailers)
    this.#stream.closeIfEnded()
  }
}
