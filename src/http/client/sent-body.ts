import { ownedCopy } from '../h1/read-buffers.ts'
import { UpstreamFailure } from './failure.ts'
import type { UpstreamConnection } from './upstream-connection.ts'

/** As much as a target must take before it can say that it refuses the request (RFC 9113 6.9.2), and one more. */
const keptBytesMax = 65_536

/** What was sent of a body, kept so that it can be sent again to a target that has not begun with the request. */
export class SentBody {
  readonly #chunks: Buffer[] = []
  /** Set once the body is complete. */
  #trailers: string | undefined
  #bytes = 0

  /** Whether it is more than is worth keeping. */
  get isTooLarge(): boolean {
    return this.#bytes > keptBytesMax
  }

  /** @returns the same bytes, valid for good */
  add(chunk: Buffer): Buffer {
    const kept = ownedCopy(chunk)
    this.#chunks.push(kept)
    this.#bytes += kept.length
    return kept
  }

  /** @param trailers field lines, each ended by CR LF */
  finish(trailers: string): void {
    this.#trailers = trailers
  }

  sendOn(connection: UpstreamConnection): void {
    for (const chunk of this.#chunks) connection.write(chunk)
    if (this.#trailers !== undefined) connection.finish(this.#trailers)
  }
}

/** The connection was lost before anything of the request was written to it, so that the target knows nothing of it. */
export class Unsent extends UpstreamFailure {
  /** What had been taken of the body; undefined = the request has none. */
  readonly body: SentBody | undefined

  constructor(cause: UpstreamFailure, body: SentBody | undefined) {
    super('not-processed', cause.message, cause)
    this.body = body
  }
}
