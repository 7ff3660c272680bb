/** From this size on the client has shown that it sends; no more is read before there is a connection. */
const pendingBytesMax = 65_536

/** The start of a body that waits for a connection to its target. */
export class PendingBody {
  readonly chunks: Buffer[] = []
  /** Name, value, name, value; set once the body is whole. */
  trailers: readonly string[] | undefined
  #bytes = 0

  get isFull(): boolean {
    return this.#bytes >= pendingBytesMax
  }

  /** @param chunk valid for good */
  add(chunk: Buffer): void {
    this.chunks.push(chunk)
    this.#bytes += chunk.length
  }
}
