/** Where bytes are in a block. */
export interface Piece {
  start: number
  readonly length: number
}

/**
 * Bytes of many pieces, one after the other in one block: each in a Buffer of its own would take three more objects, and
 * comparing with it reads all of them.
 */
export class ByteBlock {
  readonly #size: number
  /** Reserved once it is needed. Of what was never written the system provides no memory. */
  #block: Buffer | undefined
  #end = 0

  /** @param size in bytes */
  constructor(size: number) {
    this.#size = size
  }

  /** @returns where the copy starts @throws RangeError where there is no room for it */
  add(bytes: Uint8Array): number {
    const start = this.#end
    this.#blockOf().set(bytes, start)
    this.#end = start + bytes.length
    return start
  }

  /** Whether the bytes from there to their end are those of a piece. */
  endsWith(bytes: Buffer, from: number, { start, length }: Piece): boolean {
    const { length: end } = bytes
    return end - from === length && bytes.compare(this.#blockOf(), start, start + length, from, end) === 0
  }

  /** Overwrites all others with zeros, and moves these together. @param pieces in the order of their starts */
  keep(pieces: Iterable<Piece>): void {
    const block = this.#blockOf()
    let end = 0
    for (const piece of pieces) {
      block.copyWithin(end, piece.start, piece.start + piece.length)
      piece.start = end
      end += piece.length
    }
    block.fill(0, end, this.#end)
    this.#end = end
  }

  #blockOf(): Buffer {
    this.#block ??= Buffer.allocUnsafeSlow(this.#size)
    return this.#block
  }
}
