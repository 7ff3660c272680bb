import { KeptChunks } from '#http/message/kept-bytes.ts'

/** How many bytes of a body may wait for a connection to the target; then reading from the client pauses. */
const pendingBytesMax = 65_536

/** The start of a body that waits for a connection to its target. */
export class PendingBody extends KeptChunks {
  /** Name, value, name, value; set once the body is complete. */
  trailers: readonly string[] | undefined

  get isFull(): boolean {
    return this.bytes >= pendingBytesMax
  }
}

/** A body that has arrived, or its beginning if it is too large; the connection still has the rest. */
export class HeldBody extends PendingBody {
  readonly #onRelease: () => void

  constructor(bytes: Buffer, trailers: readonly string[] | undefined, onRelease: () => void) {
    super()
    this.trailers = trailers
    this.#onRelease = onRelease
    if (bytes.length > 0) this.add(bytes)
  }

  get isWhole(): boolean {
    return this.trailers !== undefined
  }

  /** Only for a whole body, to which nothing more is added. @param parts what is sent in its place */
  replace(parts: readonly Buffer[]): void {
    this.chunks.splice(0, this.chunks.length, ...parts)
    this.bytes = parts.reduce((sum, { length }) => sum + length, 0)
  }

  /** To be called once it is sent, or not needed any more; calls after the first have no effect. */
  release(): void {
    if (this.chunks.length === 0) return
    this.chunks.length = 0
    this.#onRelease()
  }
}
