import type { FrameConnection } from './framing/frame-connection.ts'
import { errorCode, windowMax } from './framing/protocol.ts'

/** How long a client may take to answer a PING before it is assumed to have read what came before. */
const roundTripMsMax = 250

/**
 * Ends a connection without losing a request (RFC 9113 6.8): a first GOAWAY names no last stream, so that requests in
 * transit are still served. A round trip later the last one is known, and named; the connection ends with its response.
 *
 * Clients built on nghttp2 fail the requests that they make on reading a response if a GOAWAY is read along with it. So
 * no response ends in the round trip before the first GOAWAY; those that would are ended right after it.
 */
export class SessionDrain {
  readonly #connection: FrameConnection
  readonly #stepMsMax: number
  #step: 'quiet' | 'announced' | 'last named' = 'quiet'

  /** @param withinMs how long the whole drain may take */
  constructor(connection: FrameConnection, withinMs: number) {
    this.#connection = connection
    this.#stepMsMax = Math.min(roundTripMsMax, withinMs / 4)
    connection.holdEnds()
    this.#awaitRoundTrip()
  }

  /** To be called whenever a stream has ended. */
  advance(): void {
    const connection = this.#connection
    if (this.#step === 'last named' && connection.streams.size === 0) connection.end()
  }

  #awaitRoundTrip(): void {
    const step = this.#step
    const next = () => {
      if (this.#step === step) this.#takeStep()
    }
    this.#connection.ping(next)
    setTimeout(next, this.#stepMsMax).unref()
  }

  #takeStep(): void {
    const connection = this.#connection
    if (connection.isClosed) return
    if (this.#step === 'quiet') {
      this.#step = 'announced'
      connection.writeGoaway(windowMax, errorCode.noError)
      connection.releaseEnds()
      this.#awaitRoundTrip()
      return
    }
    this.#step = 'last named'
    connection.writeGoaway(connection.refuseStreams(), errorCode.noError)
    this.advance()
  }
}
