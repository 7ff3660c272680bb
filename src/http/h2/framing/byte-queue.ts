/** Blocks are at least this large, so that many small pieces take little more memory than their bytes. */
const blockBytesMin = 4_096

/** Copies of bytes that have to wait, in their order. */
export class ByteQueue {
  readonly #blocks: Buffer[] = []
  /** How much of the last block is used, and how much of the first has been taken. */
  #used = 0
  #taken = 0
  length = 0

  /** @param bytes are copied */
  add(bytes: Buffer): void {
    let copied = 0
    const last = this.#blocks.at(-1)
    if (last !== undefined && this.#used < last.length) {
      copied = bytes.copy(last, this.#used)
      this.#used += copied
    }
    if (copied < bytes.length) {
      const block = Buffer.allocUnsafeSlow(Math.max(blockBytesMin, bytes.length - copied))
      this.#used = bytes.copy(block, 0, copied)
      this.#blocks.push(block)
    }
    this.length += bytes.length
  }

  /**
   * The first bytes, from one block.
   * @param bytesMax how many at most
   * @returns at least one, if there are any and one is asked for
   */
  peek(bytesMax: number): Buffer {
    const [first] = this.#blocks
    if (first === undefined) return Buffer.alloc(0)
    return first.subarray(this.#taken, Math.min(this.#endOf(first), this.#taken + Math.max(0, bytesMax)))
  }

  /** Drops the first bytes: at most as many as `peek` returned. */
  drop(bytes: number): void {
    const [first] = this.#blocks
    if (first === undefined) return
    this.#taken += bytes
    this.length -= bytes
    if (this.#taken < this.#endOf(first)) return
    this.#blocks.shift()
    this.#taken = 0
    if (this.#blocks.length === 0) this.#used = 0
  }

  #endOf(first: Buffer): number {
    return this.#blocks.length === 1 ? this.#used : first.length
  }
}
