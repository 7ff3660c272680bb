import { KeptChunks } from '../message/kept-bytes.ts'

/** Only just more than the initial window (RFC 9113 6.9.2), which may be sent before a target can refuse a request. */
const keptBytesMax = 65_536

/** The part of an UpstreamConnection that takes a body. */
interface BodyReceiver {
  write(chunk: Buffer): boolean
  finish(trailers: string): void
}

/** The sent part of a body, kept so that it can be sent again to a target that has not begun to process the request. */
export class SentBody {
  readonly #kept = new KeptChunks()
  /** Set once the body is complete. */
  #trailers: string | undefined

  /** @param bytes the complete body */
  static of(bytes: Buffer): SentBody {
    const body = new SentBody()
    body.add(bytes)
    body.finish('')
    return body
  }

  /** Whether it is more than is worth keeping. */
  get isTooLarge(): boolean {
    return this.#kept.bytes > keptBytesMax
  }

  /** @returns the same bytes, permanently valid */
  add(chunk: Buffer): Buffer {
    return this.#kept.add(chunk)
  }

  /** @param trailers field lines */
  finish(trailers: string): void {
    this.#trailers = trailers
  }

  sendOn(connection: BodyReceiver): void {
    for (const chunk of this.#kept.chunks) connection.write(chunk)
    if (this.#trailers !== undefined) connection.finish(this.#trailers)
  }
}
