import type { FrameOutput } from './frame-output.ts'
import { ConnectionError, errorCode, framePayloadMax, windowDefault, windowMax } from './protocol.ts'

/** A stream that has data to send. */
export interface SendingStream {
  readonly id: number
  /** The window that the peer grants it (RFC 9113 6.9); negative if the peer has reduced it. */
  sendWindow: number
  /** Sends some of the waiting data, at most 64 KiB. @returns whether more could be sent */
  sendWaiting(): boolean
  /** The socket has drained: called after `takesMore` has told the stream to wait for that. */
  onSocketDrain(): void
}

/** Sends the data of all streams of a connection, in turn, as far as the peer and the socket accept it. */
export class Sender {
  readonly #output: FrameOutput
  /** Streams that wait for others, the connection's window or the socket; not those whose own window is used up. */
  readonly #waiting = new Set<SendingStream>()
  /** Streams to be told once the socket has drained, as what they sent is not subject to flow control. */
  readonly #paused = new Set<SendingStream>()
  #window = windowDefault

  constructor(output: FrameOutput) {
    this.#output = output
  }

  /** @returns how many bytes were sent; the stream keeps the rest */
  send(stream: SendingStream, bytes: Buffer): number {
    const output = this.#output
    let at = 0
    while (at < bytes.length && !output.isBlocked) {
      const size = Math.min(bytes.length - at, framePayloadMax, stream.sendWindow, this.#window)
      if (size <= 0) break
      output.data(stream.id, bytes, at, at + size)
      stream.sendWindow -= size
      this.#window -= size
      at += size
    }
    return at
  }

  /** Whether a stream may send without waiting for its turn. */
  get isFree(): boolean {
    return this.#waiting.size === 0
  }

  /** The stream has data that could not be sent. */
  wait(stream: SendingStream): void {
    if (stream.sendWindow > 0) this.#waiting.add(stream)
  }

  forget(stream: SendingStream): void {
    this.#waiting.delete(stream)
    if (this.#paused.size > 0) this.#paused.delete(stream)
  }

  /** @returns false if a stream should send no more until `onSocketDrain` */
  takesMore(stream: SendingStream): boolean {
    if (this.#output.isBlocked) this.#paused.add(stream)
    return !this.#output.isBlocked
  }

  /** The socket has drained. */
  onDrain(): void {
    this.pump()
    for (const stream of this.#paused) {
      if (this.#output.isBlocked) return
      this.#paused.delete(stream)
      stream.onSocketDrain()
    }
  }

  /** @throws ConnectionError */
  widen(bytes: number): void {
    if (this.#window + bytes > windowMax)
      throw new ConnectionError(errorCode.flowControlError, 'the window of the connection is too large')
    this.#window += bytes
    this.pump()
  }

  /** Sends waiting data, some of each stream in turn. */
  pump(): void {
    for (const stream of this.#waiting) {
      if (this.#output.isBlocked || this.#window <= 0) return
      this.#waiting.delete(stream)
      // Adding it again puts it behind the others in this same loop.
      if (stream.sendWaiting()) this.#waiting.add(stream)
    }
  }
}
