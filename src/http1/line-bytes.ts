/** How many bytes each place has: a line of the core's cache. */
const size = 64

/**
 * The bytes of short request lines by place: where they are follows from their hash, so that they come from memory together
 * with what is kept for them, not only after it.
 */
export class LineBytes {
  readonly #bytes: Buffer

  constructor(places: number) {
    // Of what is never written the system provides no memory.
    this.#bytes = Buffer.allocUnsafeSlow(places * size)
  }

  /** @param line in Latin-1; nothing is kept of a longer one than `canKeep` says */
  set(place: number, line: string): void {
    if (this.canKeep(line.length)) this.#bytes.write(line, place * size, 'latin1')
  }

  canKeep(length: number): boolean {
    return length <= size
  }

  /** Whether bytes begin with the line of a place. @param length that of the line */
  isStartOf(bytes: Uint8Array, place: number, length: number): boolean {
    const own = this.#bytes
    const start = place * size
    for (let index = 0; index < length; index++) if (bytes[index] !== own[start + index]) return false
    return true
  }
}
