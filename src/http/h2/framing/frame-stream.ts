import type { Expiring } from '#platform/deadline-sweep.ts'
import type { ClientExchange } from '../../client-exchange.ts'
import { ByteQueue } from './byte-queue.ts'
import { errorCode, windowMax } from './protocol.ts'
import { ReceivedBody } from './received-body.ts'
import type { SendingStream } from './sender.ts'
import type { TableEntry } from './stream-table.ts'
import type { FieldWriter, StreamConnection, StreamEvents } from './streams.ts'

/** How much data of one stream may wait before its source has to pause. */
const waitingBytesMax = 65_536

/** One stream (RFC 9113 5), whichever side opened it. */
export class FrameStream implements SendingStream, TableEntry<FrameStream> {
  readonly id: number
  readonly body: ReceivedBody
  events: StreamEvents | undefined
  sendWindow: number
  nextInTable: FrameStream | undefined
  /** That of the request which has opened it; undefined = this side has. It stays when a tunnel gets the events. */
  exchange: (ClientExchange & Pick<Expiring, 'deadline' | 'expire'>) | undefined
  isClosed = false
  /** Whether the head of a response is expected, in a stream that this side has opened. */
  awaitsHead = false
  readonly #connection: StreamConnection<FrameStream>
  /** Data that waits to be sent; undefined = nothing has had to wait yet. */
  #waiting: ByteQueue | undefined
  #trailers: FieldWriter | undefined
  #isEnding = false
  /** Whether the end of this side was sent. */
  hasSentEnd = false
  #awaitsDrain = false

  constructor(connection: StreamConnection<FrameStream>, id: number, sendWindow: number) {
    this.#connection = connection
    this.id = id
    this.sendWindow = sendWindow
    this.body = new ReceivedBody(this, connection)
  }

  /** Whether all that was written has been sent. */
  get hasSentAll(): boolean {
    return this.#waiting === undefined || this.#waiting.length === 0
  }

  sendHead(write: FieldWriter, isLast: boolean): void {
    if (this.isClosed) return
    // Held back whole: clients of gRPC do not understand a head without a body that does not end the stream.
    if (isLast && this.#connection.heldEnds !== undefined) {
      this.end(write)
      return
    }
    this.#connection.writeBlock(this.id, write, isLast)
    if (isLast) this.#onEndSent()
  }

  /**
   * Sends the head of an informational response.
   * @returns as `write`: flow control does not apply to it, and there may be many
   */
  sendInformation(write: FieldWriter): boolean {
    if (this.isClosed) return true
    this.#connection.writeBlock(this.id, write, false)
    return this.#connection.sender.takesMore(this)
  }

  /** @returns false if more should wait for onDrain */
  write(chunk: Buffer): boolean {
    if (this.isClosed || this.#isEnding) return true
    const { sender } = this.#connection
    const sent = this.hasSentAll && sender.isFree ? sender.send(this, chunk) : 0
    if (sent === chunk.length) return true
    this.#waiting ??= new ByteQueue()
    this.#waiting.add(sent === 0 ? chunk : chunk.subarray(sent))
    sender.wait(this)
    this.#awaitsDrain = this.#waiting.length > waitingBytesMax
    return !this.#awaitsDrain
  }

  /** Everything was written. @param trailers undefined = there are none */
  end(trailers?: FieldWriter): void {
    if (this.isClosed || this.#isEnding) return
    this.#isEnding = true
    this.#trailers = trailers
    if (this.hasSentAll) this.sendEnd()
  }

  sendWaiting(): boolean {
    const { sender } = this.#connection
    const waiting = this.#waiting
    if (this.isClosed || waiting === undefined) return false
    const piece = waiting.peek(this.sendWindow)
    waiting.drop(sender.send(this, piece))
    if (waiting.length > 0) return this.sendWindow > 0
    if (this.#isEnding) this.sendEnd()
    else if (this.#awaitsDrain) {
      this.#awaitsDrain = false
      this.events?.onDrain()
    }
    return false
  }

  onSocketDrain(): void {
    if (!this.#awaitsDrain && !this.#isEnding) this.events?.onDrain()
  }

  /** The peer grants more. @returns false if the window would exceed its maximum */
  widen(bytes: number): boolean {
    this.sendWindow += bytes
    if (this.sendWindow > windowMax) return false
    if (!this.hasSentAll) {
      this.#connection.sender.wait(this)
      this.#connection.sender.pump()
    }
    return true
  }

  /** Ends both sides because of what the peer did. @throws ConnectionError after too many */
  refuse(code: number): void {
    this.#connection.countWasted()
    this.reset(code)
  }

  /** Ends both sides at once. */
  reset(code: number): void {
    if (this.isClosed) return
    this.#connection.writeReset(this.id, code)
    this.close(code)
  }

  /** Closes the stream, which its connection already considers over. */
  close(code: number): void {
    if (this.isClosed) return
    this.isClosed = true
    this.#waiting = undefined
    this.#connection.sender.forget(this)
    this.#connection.onStreamClosed(this)
    this.body.drop()
    this.events?.onClose(code)
  }

  /** The peer has reset it, or its connection is gone. A message that has arrived completely is still read. */
  onLost(code: number): void {
    if (!this.body.hasEnded || (!this.hasSentEnd && code !== errorCode.noError)) {
      this.close(code)
      return
    }
    this.#isEnding = true
    this.hasSentEnd = true
    this.#waiting = undefined
    this.closeIfEnded()
  }

  /**
   * Discards the rest of what it receives. Input is still read, so that its window is given back.
   * @returns whether more is to come
   */
  discardRest(): boolean {
    if (this.body.hasEnded) this.body.drop()
    else this.body.resume()
    this.closeIfEnded()
    return !this.isClosed
  }

  /** Closes it if both sides have ended, and what was received has been read. */
  closeIfEnded(): void {
    if (this.hasSentEnd && this.body.isRead) this.close(errorCode.noError)
  }

  /** Sends the end, unless its connection holds it back. */
  sendEnd(): void {
    const { heldEnds } = this.#connection
    if (this.isClosed) return
    if (heldEnds !== undefined) {
      heldEnds.add(this)
      return
    }
    if (this.#trailers === undefined) this.#connection.writeEnd(this.id)
    else this.#connection.writeBlock(this.id, this.#trailers, true)
    this.#onEndSent()
  }

  #onEndSent(): void {
    this.#isEnding = true
    this.hasSentEnd = true
    this.events?.onEndSent?.()
    this.closeIfEnded()
  }
}
