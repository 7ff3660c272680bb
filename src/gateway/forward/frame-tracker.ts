/**
 * Tracks the frames of a WebSocket stream (RFC 6455 5.2) without changing them: our own frame may be inserted only at
 * a boundary.
 */
export class FrameTracker {
  /** Bytes of the payload still to come. */
  #payload = 0
  /** Header bytes of the current frame seen so far, and how many it has. */
  #header = none
  #headerLength = 2

  get isAtBoundary(): boolean {
    return this.#payload === 0 && this.#header.length === 0
  }

  /**
   * Advances over a chunk that is relayed.
   * @param stopAtBoundary whether to consume only what completes the current frame
   * @returns how many bytes were consumed
   */
  consume(chunk: Uint8Array, stopAtBoundary: boolean): number {
    let offset = 0
    while (offset < chunk.length) {
      if (stopAtBoundary && this.isAtBoundary) return offset
      if (this.#payload > 0) {
        const taken = Math.min(this.#payload, chunk.length - offset)
        this.#payload -= taken
        offset += taken
      } else {
        this.#readHeader(chunk[offset] ?? 0)
        offset++
      }
    }
    return offset
  }

  #readHeader(byte: number): void {
    this.#header = [...this.#header, byte]
    if (this.#header.length === 2) this.#headerLength = headerLength(byte)
    if (this.#header.length < this.#headerLength) return
    this.#payload = payloadLength(this.#header)
    this.#header = none
    this.#headerLength = 2
  }
}

/** An idle WebSocket needs no list of its own. */
const none: readonly number[] = []

/** From the second byte: two bytes, a longer length of two or eight, and a mask of four. */
function headerLength(second: number): number {
  const length = second & 0x7f
  const extended = length === 126 ? 2 : length === 127 ? 8 : 0
  return 2 + extended + ((second & 0x80) === 0 ? 0 : 4)
}

function payloadLength(header: readonly number[]): number {
  const length = (header[1] ?? 0) & 0x7f
  if (length < 126) return length
  return header.slice(2, length === 126 ? 4 : 10).reduce((sum, byte) => sum * 256 + byte, 0)
}

/** A Close frame (RFC 6455 5.5.1), masked where it goes to a server. */
export function closeFrame(code: number, reason: string, isMasked: boolean): Buffer {
  const payload = Buffer.concat([Buffer.from([code >> 8, code & 0xff]), Buffer.from(reason)])
  if (!isMasked) return Buffer.concat([Buffer.from([0x88, payload.length]), payload])
  // A mask of zeros is a mask: it leaves the payload as it is.
  return Buffer.concat([Buffer.from([0x88, 0x80 | payload.length, 0, 0, 0, 0]), payload])
}
