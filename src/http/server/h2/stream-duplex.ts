import { Duplex } from 'node:stream'
import type { FrameStream } from '../../h2/framing/frame-stream.ts'
import { errorCode } from '../../h2/framing/protocol.ts'
import type { StreamEvents } from '../../h2/framing/streams.ts'

/** An HTTP/2 stream as a Node stream: for a tunnel, after the head of the response. */
export class StreamDuplex extends Duplex implements StreamEvents {
  readonly #stream: FrameStream
  readonly #onClosed: () => void
  #onWritten: ((error?: Error | null) => void) | undefined
  #onEnded: (() => void) | undefined
  /** Whether the end of this side was sent. The stream says so too of one that the client has reset. */
  #isEndSent = false
  #timer: NodeJS.Timeout | undefined

  constructor(stream: FrameStream, onClosed: () => void) {
    super()
    this.#stream = stream
    this.#onClosed = onClosed
    stream.events = this
  }

  /** Calls back once nothing has been read or written for this long; 0 = never. */
  setTimeout(ms: number, onTimeout?: () => void): this {
    clearTimeout(this.#timer)
    this.#timer = ms === 0 || onTimeout === undefined ? undefined : setTimeout(onTimeout, ms).unref()
    return this
  }

  override _read(): void {
    // The body may have ended together with the head.
    if (this.#stream.body.isRead) this.push(null)
    else this.#stream.body.resume()
  }

  override _write(chunk: Buffer, _encoding: string, onWritten: (error?: Error | null) => void): void {
    this.#timer?.refresh()
    if (this.#stream.write(chunk)) onWritten()
    else this.#onWritten = onWritten
  }

  override _final(onWritten: (error?: Error | null) => void): void {
    this.#onEnded = onWritten
    this.#stream.end()
  }

  override _destroy(error: Error | null, onDestroyed: (error: Error | null) => void): void {
    clearTimeout(this.#timer)
    // A client that has been sent all of it is no longer needed (RFC 8441 5).
    const code = this.#isEndSent ? errorCode.noError : errorCode.cancel
    this.#stream.reset(error === null ? code : errorCode.internalError)
    onDestroyed(error)
  }

  onData(chunk: Buffer): void {
    this.#timer?.refresh()
    // A copy, as the stream may be read only after the chunk's memory has been reused.
    if (!this.push(Buffer.from(chunk))) this.#stream.body.pause()
  }

  isReleased(): boolean {
    return true
  }

  onEnd(): void {
    this.push(null)
  }

  onDrain(): void {
    const onWritten = this.#onWritten
    this.#onWritten = undefined
    onWritten?.()
  }

  onEndSent(): void {
    this.#isEndSent = true
    this.#onEnded?.()
  }

  onClose(code: number): void {
    this.#onClosed()
    // After both sides have ended, data that is still buffered is passed on. A reset may have this code too.
    const isOrderly = code === errorCode.noError && this.#isEndSent && this.#stream.body.hasEnded
    if (!isOrderly) this.destroy()
  }
}
