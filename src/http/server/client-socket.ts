import { Socket } from 'node:net'
import { getDefaultHighWaterMark } from 'node:stream'
import { sharedBuffer } from '../read-memory.ts'
import { endOfInput, readResult, type SocketHandle, shutDown, streamOf } from '../socket-handle.ts'
import { writeDirectly, writeToHandle } from '../socket-writes.ts'

/** What happens on a client's connection, apart from reading. */
export interface ClientSocketEvents {
  /** More may be written. */
  onDrain(): void
  /** The client has closed its side. */
  onEnd(): void
  /** Both sides are closed: the last event. */
  onClose(): void
}

/**
 * A client's connection. For most requests its handle is enough; its stream, which takes a tenth of the time of a short
 * connection, is made when it is first needed.
 */
export class ClientSocket {
  readonly isEncrypted: boolean
  /** undefined = the client has already reset the connection. */
  readonly remoteAddress: string | undefined
  /** undefined once there is a stream, or if it was closed without one. */
  #handle: SocketHandle | undefined
  #stream: Socket | undefined
  #events: ClientSocketEvents | undefined
  #onRead: (length: number) => boolean = () => true
  #hasEnded = false
  #isEnding = false
  #isShutDown = false
  #isReleased = false

  constructor(source: Socket | SocketHandle) {
    this.isEncrypted = 'encrypted' in source
    if (source instanceof Socket) {
      this.#stream = source
      this.remoteAddress = source.remoteAddress
    } else {
      this.#handle = source
      this.remoteAddress = remoteAddressOf(source)
    }
  }

  /** To be called first. */
  open(events: ClientSocketEvents): void {
    this.#events = events
    if (this.#stream) this.#listen(this.#stream)
  }

  /** What to read from: the stream, if it was made. */
  get source(): Socket | this {
    return this.#stream ?? this
  }

  /** Made now if need be; destroyed if the connection is closed. */
  get stream(): Socket {
    this.#stream ??= this.#handle ? this.#makeStream(this.#handle) : new Socket().destroy()
    return this.#stream
  }

  /** The stream, which belongs to the caller from now on: only its close is still reported. */
  release(): Socket {
    this.#isReleased = true
    return this.stream
  }

  get destroyed(): boolean {
    return this.#stream ? this.#stream.destroyed : this.#handle === undefined
  }

  get errored(): Error | null {
    return this.#stream?.errored ?? null
  }

  /** The bytes that the stream has still to write. */
  get writableLength(): number {
    return this.#stream?.writableLength ?? 0
  }

  get writableHighWaterMark(): number {
    return this.#stream?.writableHighWaterMark ?? highWaterMark
  }

  /** Starts reading into the shared memory. @param onRead see `readIntoSharedBuffer` */
  startReading(onRead: (length: number) => boolean): void {
    const handle = this.#handle
    if (handle === undefined) return
    this.#onRead = onRead
    handle.onread = () => this.#afterRead(handle)
    handle.useUserBuffer(sharedBuffer)
    this._read()
  }

  /** Continues reading, as the method of a stream does. */
  _read(): void {
    const handle = this.#handle
    if (handle === undefined) this.#stream?._read(sharedBuffer.length)
    else if (!handle.reading && !this.#hasEnded) {
      handle.reading = true
      if (handle.readStart() !== 0) this.destroy()
    }
  }

  push(chunk: Buffer): boolean {
    return this.stream.push(chunk)
  }

  /** Writes text in Latin-1 without the stream. @returns see `writeDirectly` */
  writeDirectly(text: string, onWritten: () => void): boolean | undefined {
    if (this.#stream) return writeDirectly(this.#stream, text, onWritten)
    if (this.#handle === undefined || this.#isEnding) return undefined
    return writeToHandle(this.#handle, this, text, onWritten)
  }

  /** Closes both sides. @returns false where that takes longer: there is a stream, or something still to be sent */
  close(): boolean {
    if (this.#handle?.writeQueueSize !== 0) return false
    this.destroy()
    return true
  }

  /** Closes this side once all is written, and the connection once the client has closed its side too. */
  end(): void {
    const handle = this.#handle
    if (this.#stream) this.#stream.end()
    else if (handle !== undefined && !this.#isEnding) {
      this.#isEnding = true
      // Closing does not take back what the system has accepted.
      const isOver = this.#hasEnded && handle.writeQueueSize === 0
      if (isOver || !shutDown(handle, this.#afterShutDown)) this.destroy()
    }
  }

  destroy(error?: Error): void {
    if (this.#stream) this.#stream.destroy(error)
    else {
      this.#handle?.close(() => this.#events?.onClose())
      this.#handle = undefined
    }
  }

  #makeStream(handle: SocketHandle): Socket {
    this.#handle = undefined
    const stream = streamOf(handle, this.#onRead)
    this.#listen(stream)
    // Node reports the end once only.
    if (this.#hasEnded) stream.push(null)
    // Not before, as nothing could be written any more that waits for the system.
    if (this.#isShutDown) stream.end()
    // Without this it would not notice its end.
    stream.resume()
    return stream
  }

  #listen(stream: Socket): void {
    const events = this.#events
    stream.on('drain', () => this.#isReleased || events?.onDrain())
    stream.on('end', () => this.#isReleased || this.#hasEnded || events?.onEnd())
    stream.on('error', () => stream.destroy())
    stream.on('close', () => events?.onClose())
  }

  readonly #afterShutDown = (): void => {
    this.#isShutDown = true
    if (this.#stream) this.#stream.end()
    else if (this.#hasEnded) this.destroy()
  }

  #afterRead(handle: SocketHandle): void {
    const result = readResult()
    if (result === endOfInput) this.#afterEnd()
    else if (result < 0) this.destroy()
    else if (result > 0 && !this.#onRead(result) && !this.destroyed) {
      handle.reading = false
      handle.readStop()
    }
  }

  #afterEnd(): void {
    this.#hasEnded = true
    this.#events?.onEnd()
    if (this.#isShutDown && this.#stream === undefined) this.destroy()
  }
}

const highWaterMark = getDefaultHighWaterMark(false)

/** The address of the client, as a socket's `remoteAddress`. */
function remoteAddressOf(handle: SocketHandle): string | undefined {
  const out: { address?: string } = {}
  return handle.getpeername(out) === 0 ? out.address : undefined
}
