import { ownedCopy } from '#http/h1/read-buffers.ts'

/** At this size the client is not slow: reading pauses until there is a connection. */
const pendingBytesMax = 65_536

/** The start of a body that waits for a connection to its target. */
export class PendingBody {
  readonly chunks: Buffer[] = []
  /** Name, value, name, value; set once the body is complete. */
  trailers: readonly string[] | undefined
  #bytes = 0

  get isFull(): boolean {
    return this.#bytes >= pendingBytesMax
  }

  add(chunk: Buffer): void {
    this.chunks.push(ownedCopy(chunk))
    this.#bytes += chunk.length
  }
}
