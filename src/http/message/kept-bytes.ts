import { ownedCopy } from '../read-memory.ts'

/**
 * Bytes that arrive in pieces and are needed in one. Pieces are copied into memory that doubles as it fills: a sender
 * may split a message into pieces of one byte, and to join each of them with all before it would cost the square of its
 * length.
 */
export class KeptBytes {
  #memory: Buffer
  length: number

  /** @param first kept, not copied: nobody else may write to it */
  constructor(first: Buffer) {
    this.#memory = first
    this.length = first.length
  }

  /** All of them, in memory of their own. */
  get all(): Buffer {
    return this.#memory.subarray(0, this.length)
  }

  /** @param piece copied. @returns all of them */
  add(piece: Uint8Array): Buffer {
    const length = this.length + piece.length
    if (length > this.#memory.length) {
      const memory = Buffer.allocUnsafeSlow(Math.max(2 * this.#memory.length, length))
      memory.set(this.all)
      this.#memory = memory
    }
    this.#memory.set(piece, this.length)
    this.length = length
    return this.all
  }
}

/** Small chunks are joined up to this length, as each chunk costs far more than its bytes. */
export const joinedBytesMax = 4_096

/**
 * Chunks that are kept as they come, but for small ones: an object of its own for each byte takes 200 times as much.
 */
export class KeptChunks {
  readonly chunks: Buffer[] = []
  /** How many have been added. */
  bytes = 0
  #last: KeptBytes | undefined

  /** @returns the same bytes, permanently valid */
  add(chunk: Buffer): Buffer {
    this.bytes += chunk.length
    if (this.#last !== undefined && this.#last.length + chunk.length <= joinedBytesMax) {
      const joined = this.#last.add(chunk)
      this.chunks[this.chunks.length - 1] = joined
      return joined.subarray(joined.length - chunk.length)
    }
    const kept = ownedCopy(chunk)
    // Not a long one, whose memory may be released before this object is.
    this.#last = kept.length < joinedBytesMax ? new KeptBytes(kept) : undefined
    this.chunks.push(kept)
    return kept
  }
}

/** The end of a head: that of its last line, and the empty line. */
const headEnd = '\r\n\r\n'
/** Up to this length an incomplete head is parsed again with each piece. */
const eagerBytesMax = 1_024

/**
 * The received part of a head. Parsing it begins again at its unfinished line, so once it is long it is parsed only
 * when its end has arrived, or a sixteenth more: what can no longer become a head is still noticed soon.
 */
export class PartialHead extends KeptBytes {
  #parsedLength = this.length

  /**
   * @param bytesMax from this length on, it is always parsed
   * @returns the whole part, if it is to be parsed now
   */
  addPiece(piece: Uint8Array, bytesMax: number): Buffer | undefined {
    const before = this.length
    const all = this.add(piece)
    const isDue =
      all.length <= eagerBytesMax ||
      all.length >= bytesMax ||
      all.length - this.#parsedLength >= this.#parsedLength / 16 ||
      all.includes(headEnd, Math.max(0, before - headEnd.length + 1))
    if (!isDue) return undefined
    this.#parsedLength = all.length
    return all
  }
}
