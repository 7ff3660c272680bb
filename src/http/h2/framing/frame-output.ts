import type { Socket } from 'node:net'
import { frameFlag, frameHeadBytes, framePayloadMax, frameType } from './protocol.ts'

/** The size of a batch for one write, which exceeds that of any frame. */
const batchBytes = 65_536
/** Batches up to this size are written as text in Latin-1, which frees them at once. */
const textBytesMax = 16_384
/** How many free batches are kept, for all connections. */
const freeMax = 32
const free: Buffer[] = []

/**
 * Collects the frames of one turn of the event loop, and writes them together, as a write costs as much as the work on
 * several requests.
 */
export class FrameOutput {
  readonly #socket: Socket
  #batch: Buffer | undefined
  #length = 0
  #isScheduled = false
  /** The start of the last frame, if it has data; -1 = it has none, or has been written. */
  #dataAt = -1
  #dataStreamId = 0
  /** Whether data has to wait until the socket has drained. */
  isBlocked = false
  /** The total length of all message frames. */
  messageBytes = 0
  /** How often the socket has drained, which shows whether the peer reads. */
  drains = 0

  constructor(socket: Socket) {
    this.#socket = socket
  }

  /** How many bytes have not been passed to the system. */
  get unsentBytes(): number {
    return this.#socket.writableLength + this.#length
  }

  /** @param payload at most `framePayloadMax` bytes */
  frame(
    type: number,
    flags: number,
    streamId: number,
    payload: Buffer,
    start = 0,
    end = payload.length,
  ): void {
    const at = this.#beginFrame(end - start, type, flags, streamId)
    if (this.#batch) payload.copy(this.#batch, at, start, end)
  }

  /** A frame with a single number as payload. */
  number(type: number, streamId: number, value: number): void {
    const at = this.#beginFrame(4, type, 0, streamId)
    if (this.#batch) writeUint32(this.#batch, at, value)
  }

  /**
   * Writes data, in the previous frame if it is of the same stream.
   * @param end at most `framePayloadMax` after start
   */
  data(streamId: number, bytes: Buffer, start: number, end: number): void {
    const batch = this.#batch
    const at = this.#length
    const before =
      this.#dataAt === -1 || this.#dataStreamId !== streamId ? 0 : at - this.#dataAt - frameHeadBytes
    const joined = before + end - start
    if (before === 0 || batch === undefined || joined > framePayloadMax || at + end - start > batchBytes) {
      this.frame(frameType.data, 0, streamId, bytes, start, end)
      this.#dataAt = this.#length - frameHeadBytes - (end - start)
      this.#dataStreamId = streamId
      return
    }
    this.#length += bytes.copy(batch, at, start, end)
    this.messageBytes += end - start
    writeUint24(batch, this.#dataAt, joined)
  }

  /** Ends a stream with the data written last, if there is any. @returns whether that was possible */
  endWithData(streamId: number): boolean {
    if (this.#dataAt === -1 || this.#dataStreamId !== streamId || this.#batch === undefined) return false
    this.#batch[this.#dataAt + 4] = frameFlag.endStream
    this.#dataAt = -1
    return true
  }

  /** The socket has drained. */
  onDrain(): void {
    this.isBlocked = false
    this.drains++
    this.flush()
  }

  /** Writes what has been collected. */
  flush(): void {
    const batch = this.#batch
    if (batch === undefined) return
    const length = this.#length
    const socket = this.#socket
    this.#batch = undefined
    this.#length = 0
    this.#dataAt = -1
    if (!socket.writable) return
    if (length > textBytesMax) {
      const isFlowing = socket.write(batch.subarray(0, length), (error) => error ?? release(batch))
      if (!isFlowing) this.isBlocked = true
      return
    }
    if (!socket.write(batch.toString('latin1', 0, length), 'latin1')) this.isBlocked = true
    release(batch)
  }

  /** @returns the index of its payload */
  #beginFrame(length: number, type: number, flags: number, streamId: number): number {
    if (this.#batch !== undefined && this.#length + frameHeadBytes + length > batchBytes) this.flush()
    this.#batch ??= free.pop() ?? Buffer.allocUnsafeSlow(batchBytes)
    const batch = this.#batch
    const at = this.#length
    writeUint24(batch, at, length)
    batch[at + 3] = type
    batch[at + 4] = flags
    writeUint32(batch, at + 5, streamId)
    this.#length = at + frameHeadBytes + length
    this.#dataAt = -1
    if (type <= frameType.headers) this.messageBytes += frameHeadBytes + length
    if (!this.#isScheduled) {
      this.#isScheduled = true
      setImmediate(this.#onTurn)
    }
    return at + frameHeadBytes
  }

  readonly #onTurn = (): void => {
    this.#isScheduled = false
    // While the socket is blocked, output is kept in few large pieces: many small ones would take a multiple of their
    // length.
    if (!this.isBlocked) this.flush()
  }
}

function writeUint24(bytes: Buffer, at: number, value: number): void {
  bytes[at] = value >>> 16
  bytes[at + 1] = value >>> 8
  bytes[at + 2] = value
}

function writeUint32(bytes: Buffer, at: number, value: number): void {
  bytes[at] = value >>> 24
  bytes[at + 1] = value >>> 16
  bytes[at + 2] = value >>> 8
  bytes[at + 3] = value
}

function release(batch: Buffer): void {
  if (free.length < freeMax) free.push(batch)
}
