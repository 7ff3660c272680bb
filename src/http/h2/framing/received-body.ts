import { ByteQueue } from './byte-queue.ts'
import { errorCode } from './protocol.ts'
import type { StreamConnection, StreamEvents } from './stream-connection.ts'

const pieceBytesMax = 65_536
/** Smaller pieces of one read are joined, since each is written on its own. */
const joinedBytesMax = 4_096
const none: readonly string[] = []

/** Whose body it is. */
interface ReceivingStream {
  readonly id: number
  readonly isClosed: boolean
  readonly events: StreamEvents | undefined
  refuse(code: number): void
  closeIfEnded(): void
}

/** What a stream receives: read as it arrives, or held back, at most as much as its window. */
export class ReceivedBody {
  readonly #stream: ReceivingStream
  readonly #connection: StreamConnection
  /** How many bytes it has by its Content-Length; undefined = that is not known. */
  expectedBytes: number | undefined
  /** Whether its last frame has arrived. */
  hasEnded = false
  /** Whether its end has been reported. */
  #isRead = false
  #isPaused = true
  #isResuming = false
  #held: ByteQueue | undefined
  #bytes = 0
  /** The read of the connection that brought the last piece. */
  #readNumber = 0
  #trailers = none
  /** How much its peer may still send, and how much has been read that its peer does not know of. */
  #window: number
  #unreported = 0
  /** What the current frame has besides data. */
  #padding = 0

  constructor(stream: ReceivingStream, connection: StreamConnection) {
    this.#stream = stream
    this.#connection = connection
    this.#window = connection.receiveWindow
  }

  get isRead(): boolean {
    return this.#isRead
  }

  resume(): void {
    this.#isPaused = false
    if (this.#isResuming || this.#isRead || (!this.hasEnded && this.#held === undefined)) return
    this.#isResuming = true
    process.nextTick(() => this.#deliver())
  }

  pause(): void {
    this.#isPaused = true
  }

  /** A DATA frame begins. @returns false where the stream does not take it */
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
    const isFurther = this.#readNumber === this.#connection.readNumber && chunk.length <= joinedBytesMax
    this.#readNumber = this.#connection.readNumber
    if (!this.#isPaused && !this.#isResuming && this.#held === undefined && !isFurther) {
      this.#read(chunk)
      return this.#stream.events?.isReleased() ?? true
    }
    this.#held ??= new ByteQueue()
    this.#held.add(chunk)
    if (!this.#isPaused) this.resume()
    return true
  }

  /** The end of a frame. */
  endFrame(isLast: boolean): void {
    this.#report(this.#padding)
    this.#padding = 0
    if (isLast) this.end(none)
  }

  /** All has arrived. @param trailers name, value, name, value */
  end(trailers: readonly string[]): void {
    if (this.expectedBytes !== undefined && this.#bytes !== this.expectedBytes) {
      this.#stream.refuse(errorCode.protocolError)
      return
    }
    this.hasEnded = true
    this.#trailers = trailers
    if (!this.#isPaused && !this.#isResuming && this.#held === undefined) this.#onEnd()
  }

  /** There is none. */
  skip(): void {
    this.hasEnded = true
    this.#isRead = true
  }

  /** Nobody will read it. */
  drop(): void {
    this.#held = undefined
    this.#isRead = true
  }

  #deliver(): void {
    this.#isResuming = false
    const held = this.#held
    while (held !== undefined && held.length > 0) {
      if (this.#isPaused || this.#isRead) return
      const piece = held.peek(pieceBytesMax)
      held.drop(piece.length)
      this.#read(piece)
    }
    this.#held = undefined
    if (this.hasEnded && !this.#isPaused && !this.#isRead) this.#onEnd()
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
    this.#isRead = true
    this.#stream.events?.onEnd(this.#trailers)
    this.#stream.closeIfEnded()
  }
}
