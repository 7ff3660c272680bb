/**
 * The block of memory in which all heads are parsed: heads that arrive in pieces, or in memory of another kind, are
 * parsed like all others, and values can be read four bytes at a time.
 */
class HeadBlock {
  bytes: Uint8Array = new Uint8Array(0)
  /** The same memory, for reading four bytes at once. */
  view: DataView = new DataView(this.bytes.buffer)
  /**
   * The length of the current head in bytes. The byte after it is 0, which ends all reading; there is room for three
   * more, so that it can be read together with them.
   */
  length = 0

  constructor(bytes: number) {
    this.#allocate(bytes)
  }

  /** Replaces what is in it. */
  load(head: Uint8Array): void {
    if (head.length + 4 > this.bytes.length) this.#allocate(2 * head.length + 4)
    this.bytes.set(head)
    this.bytes[head.length] = 0
    this.length = head.length
  }

  #allocate(bytes: number): void {
    this.bytes = new Uint8Array(bytes)
    this.view = new DataView(this.bytes.buffer)
  }
}

/** Its contents are valid until another head is loaded: within a call of a parser. */
export const headBlock: HeadBlock = new HeadBlock(16_384)

/** @returns the index of the first byte from `start` on that is not one of these characters */
export function skip(start: number, characters: Uint8Array): number {
  const { bytes } = headBlock
  let at = start
  while (characters[bytes[at] ?? 0] === 1) at++
  return at
}
