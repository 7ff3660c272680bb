/** UTF-8 needs at most this many bytes for one unit of a JavaScript string. */
const bytesPerUnitMax = 3

/**
 * Lines as bytes, in chunks of whole lines, in the order they were added. Lines go straight into memory that is used
 * again and again: as texts that are joined first they would be copied three times, and leave garbage.
 */
export class LineChunks {
  /** Chunks that take no more lines, the oldest first. */
  readonly #closed: Buffer[] = []
  /** The chunk that takes the next line. */
  #open: Buffer
  #used = 0
  #spare: Buffer | undefined

  /** @param chunkBytesMax a line longer than this is a chunk by itself */
  constructor(chunkBytesMax: number) {
    this.#open = Buffer.allocUnsafeSlow(chunkBytesMax)
  }

  /** @returns the bytes of the line */
  add(line: string): number {
    // Nearly always there is room, whatever the line consists of: counting its bytes would be reading it twice.
    if (line.length * bytesPerUnitMax > this.#open.length - this.#used) {
      const bytes = Buffer.byteLength(line)
      if (bytes > this.#open.length - this.#used) this.#close()
      if (bytes > this.#open.length) return this.#addLong(line, bytes)
    }
    const bytes = this.#open.write(line, this.#used)
    this.#used += bytes
    return bytes
  }

  /** @returns the oldest chunk, which is no longer here; undefined = there are no lines */
  take(): Buffer | undefined {
    if (this.#closed.length === 0) this.#close()
    return this.#closed.shift()
  }

  /** Uses the memory of a chunk again. @param chunk one that was taken, or the end of it; not used by anyone else */
  release({ buffer }: Buffer): void {
    if (buffer.byteLength === this.#open.length) this.#spare = Buffer.from(buffer)
  }

  clear(): void {
    this.#closed.length = 0
    this.#used = 0
  }

  #addLong(line: string, bytes: number): number {
    const chunk = Buffer.allocUnsafeSlow(bytes)
    this.#closed.push(chunk)
    return chunk.write(line)
  }

  #close(): void {
    if (this.#used === 0) return
    this.#closed.push(this.#open.subarray(0, this.#used))
    this.#open = this.#spare ?? Buffer.allocUnsafeSlow(this.#open.length)
    this.#used = 0
    this.#spare = undefined
  }
}
