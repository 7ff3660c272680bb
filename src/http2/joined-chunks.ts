/** Pieces of a body that are written as one. */
export class JoinedChunks {
  #chunks: Buffer[] = []
  bytes = 0

  /** @param chunk valid for good */
  add(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.bytes += chunk.length
  }

  /** @returns all of them; undefined = there are none */
  take(): Buffer | undefined {
    const chunks = this.#chunks
    if (chunks.length === 0) return undefined
    this.#chunks = []
    this.bytes = 0
    return chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)
  }
}
