import * as timeouts from './timeouts.ts'

/**
 * Reads on from a client whose connection ends, or whose stream does: closing while it sends would reset it, and the
 * client might lose the response before reading it (RFC 9112 9.6). Bounded in time, silence and bytes.
 */
export class LingeringClose {
  #endsAt: number | undefined
  #bytes = 0

  get isActive(): boolean {
    return this.#endsAt !== undefined
  }

  /** @param now on the clock of performance.now() @returns the deadline to close it */
  begin(now: number): number {
    this.#endsAt = now + timeouts.lingeringTimeMs
    return now + timeouts.lingeringTimeoutMs
  }

  /** Counts discarded input. @returns the new deadline; undefined = nothing more is to be read */
  discard(bytes: number, now: number): number | undefined {
    this.#bytes += bytes
    if (this.#endsAt === undefined || this.#bytes > timeouts.lingeringBytesMax) return undefined
    return Math.min(this.#endsAt, now + timeouts.lingeringTimeoutMs)
  }
}
