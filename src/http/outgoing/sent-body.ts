import { ownedCopy } from '../h1/socket-reader.ts'
import { UpstreamFailure } from './failure.ts'
import type { UpstreamConnection } from './upstream-connection.ts'

/** The amount that a target must accept before it can say that it refuses the request (RFC 9113 6.9.2), plus one. */
const keptBytesMax = 65_536

/** The sent part of a body, kept so that it can be sent again to a target that has not begun to process the request. */
export class SentBody {
  readonly #chunks: Buffer[] = []
  /** Set once the body is complete. */
  #trailers: string | undefined
  #bytes = 0

  /** Whether it is more than is worth keeping. */
  get isTooLarge(): boolean {
    return this.#bytes > keptBytesMax
  }

  /** @returns the same bytes, permanently valid */
  add(chunk: Buffer): Buffer {
    const kept = ownedCopy(chunk)
    this.#chunks.push(kept)
    this.#bytes += kept.length
    return kept
  }

  /** @param trailers field lines */
  finish(trailers: string): void {
    this.#trailers = trailers
  }

  sendOn(connection: UpstreamConnection): void {
    for (const chunk of this.#chunks) connection.write(chunk)
    if (this.#trailers !== undefined) connection.finish(this.#trailers)
  }
}

/** The connection was lost before anything of the request was written, so the target does not know of it. */
export class Unsent extends UpstreamFailure {
  /** The part of the body that had been accepted; undefined = the request has none. */
  readonly body: SentBody | undefined

  constructor(cause: UpstreamFailure, body: SentBody | undefined) {
    super('not-processed', cause.message, cause)
    this.body = body
  }
}
