/** So many streams that this side has reset are remembered: their peer may not know yet. */
const resetMax = 1_000

/** Tells what a frame on a stream that is not open means. */
export class ClosedStreams {
  readonly #reset = new Set<number>()
  /** The last stream that the peer has opened, and how many it has. */
  lastPeerId = 0
  #opened = 0
  /** Later streams of the peer are ignored; see GOAWAY. */
  lastAccepted = Number.POSITIVE_INFINITY

  /** The peer opens a stream. */
  open(id: number): void {
    this.lastPeerId = id
    this.#opened++
  }

  /** Whether the peer has left out streams, which it can never open (RFC 9113 5.1.1). */
  get hasSkipped(): boolean {
    return this.#opened !== (this.lastPeerId + 1) / 2
  }

  /** This side has reset a stream. */
  addReset(id: number): void {
    this.#reset.add(id)
    if (this.#reset.size <= resetMax) return
    for (const oldest of this.#reset) {
      this.#reset.delete(oldest)
      return
    }
  }

  /** Whether what still comes for a stream is to be ignored (RFC 9113 5.1). */
  isIgnored(id: number): boolean {
    return id > this.lastAccepted || this.#reset.has(id)
  }
}
