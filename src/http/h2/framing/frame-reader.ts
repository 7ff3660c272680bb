import {
  frameFlag,
  frameHeadBytes,
  framePayloadMax,
  frameSizeError,
  frameType,
  protocolError,
  uint31At,
} from './protocol.ts'

export interface FrameEvents {
  /** A complete frame of any type but DATA. @param payload valid until this returns */
  onFrame(type: number, flags: number, streamId: number, payload: Buffer): void
  /** A DATA frame begins. @param length of its payload, which counts for flow control */
  onDataStart(streamId: number, length: number): void
  /** A part of its data. @param chunk valid until this returns, like all that was read */
  onData(chunk: Buffer): void
  /** @param isEmpty whether it had no data, though possibly padding */
  onDataEnd(isLast: boolean, isEmpty: boolean): void
}

/** Splits one direction of a connection into frames (RFC 9113 4.1). Data is passed on as it arrives. */
export class FrameReader {
  readonly #events: FrameEvents
  /** The beginning of an incomplete frame; its length is `#kept`. */
  #partial: Buffer | undefined
  #kept = 0
  /** The rest of the current DATA frame in bytes; -1 = not within one. */
  #dataLeft = -1
  #dataFlags = 0
  #isEmpty = false
  #paddingLength = 0
  #awaitsPadLength = false

  constructor(events: FrameEvents) {
    this.#events = events
  }

  /** Whether the end of a frame other than DATA, or of any frame head, has not arrived. */
  get isWithinFrame(): boolean {
    return this.#partial !== undefined
  }

  /** @throws ConnectionError */
  feed(chunk: Buffer): void {
    let at = 0
    while (at < chunk.length) {
      if (this.#dataLeft >= 0) at = this.#readData(chunk, at)
      else if (this.#partial !== undefined) at = this.#complete(this.#partial, chunk, at)
      else at = this.#readFrame(chunk, at)
    }
  }

  /** Reads the frame that begins here. @returns where the next one begins, or the data of this one */
  #readFrame(chunk: Buffer, at: number): number {
    const available = chunk.length - at
    if (available < frameHeadBytes) return this.#keep(chunk, at)
    const length = frameLength(chunk, at)
    const type = chunk[at + 3] ?? 0
    if (type === frameType.data) return this.#startData(chunk, at, length)
    const end = at + frameHeadBytes + length
    if (end > chunk.length) return this.#keep(chunk, at)
    const payload = chunk.subarray(at + frameHeadBytes, end)
    this.#events.onFrame(type, chunk[at + 4] ?? 0, streamIdAt(chunk, at), payload)
    return end
  }

  #keep(chunk: Buffer, at: number): number {
    const partial = Buffer.allocUnsafe(
      chunk.length - at < frameHeadBytes ? frameHeadBytes : frameHeadBytes + frameLength(chunk, at),
    )
    this.#kept = chunk.copy(partial, 0, at)
    this.#partial = partial
    return chunk.length
  }

  #complete(partial: Buffer, chunk: Buffer, at: number): number {
    const copied = chunk.copy(partial, this.#kept, at, at + partial.length - this.#kept)
    this.#kept += copied
    if (this.#kept < partial.length) return at + copied
    this.#partial = undefined
    // If it is only the head of a frame, its payload is collected next, unless it is data.
    this.#readFrame(partial, 0)
    return at + copied
  }

  #startData(chunk: Buffer, at: number, length: number): number {
    const flags = chunk[at + 4] ?? 0
    this.#dataFlags = flags
    this.#paddingLength = 0
    this.#awaitsPadLength = (flags & frameFlag.padded) !== 0
    if (this.#awaitsPadLength && length === 0) throw frameSizeError('a padded DATA frame')
    this.#dataLeft = length
    this.#isEmpty = true
    this.#events.onDataStart(streamIdAt(chunk, at), length)
    if (length === 0) this.#endData()
    return at + frameHeadBytes
  }

  #readData(chunk: Buffer, at: number): number {
    let start = at
    if (this.#awaitsPadLength) {
      this.#awaitsPadLength = false
      this.#paddingLength = chunk[start++] ?? 0
      if (this.#paddingLength >= this.#dataLeft) throw protocolError('the padding is longer than its frame')
      this.#dataLeft--
    }
    const end = Math.min(chunk.length, start + this.#dataLeft)
    const dataEnd = Math.min(end, start + this.#dataLeft - this.#paddingLength)
    this.#dataLeft -= end - start
    if (dataEnd > start) {
      this.#isEmpty = false
      this.#events.onData(chunk.subarray(start, dataEnd))
    }
    if (this.#dataLeft === 0) this.#endData()
    return end
  }

  #endData(): void {
    this.#dataLeft = -1
    this.#events.onDataEnd((this.#dataFlags & frameFlag.endStream) !== 0, this.#isEmpty)
  }
}

/** @throws ConnectionError if it exceeds the allowed length */
function frameLength(bytes: Buffer, at: number): number {
  const length = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0)
  if (length > framePayloadMax) throw frameSizeError('a frame')
  return length
}

function streamIdAt(bytes: Buffer, at: number): number {
  return uint31At(bytes, at + 5)
}
