import { constants, type ServerHttp2Session } from 'node:http2'

/** How long a client may think between the answer to a request and its next one, to count as one that asks no more. */
const quietMs = 50
/** How long answers are held back for that, at most: some clients never pause. */
const settleMsMax = 250
/** Of the time that a drain may take, the part for that. */
const settleShare = 0.25
/** How long the GOAWAY may take to leave where the client reads nothing. */
const sendMsMax = 5_000

/** What a drain has to know of a client's connection. */
export interface DrainedSession {
  readonly session: ServerHttp2Session
  /** How many requests have come so far. */
  openedStreams(): number
}

/**
 * Ends a connection so that no request is lost (RFC 9113 6.8).
 *
 * nghttp2 ignores requests that arrive after it has sent a GOAWAY, although its client could not know of it yet, and
 * node:http2 has no other way to send one. So the client is made silent first: the ends of answers are held back, and
 * whoever waits for an answer before the next request sends no more. Once no request has come for a while and for a
 * round trip, GOAWAY is sent, the answers after it. What was in transit nevertheless is above the last stream of the
 * final GOAWAY: its client knows that it was not processed.
 */
export class SessionDrain {
  readonly #drained: DrainedSession
  readonly #endsAt: number
  readonly #timer: NodeJS.Timeout
  /** undefined = they are not held back any more. */
  #heldEnds: (() => void)[] | undefined = []
  #openedBefore: number
  #isAcknowledged = false

  /** @param withinMs how long the whole drain may take */
  constructor(drained: DrainedSession, withinMs: number) {
    const settleMs = Math.min(settleMsMax, withinMs * settleShare)
    this.#drained = drained
    this.#endsAt = performance.now() + settleMs
    this.#openedBefore = drained.openedStreams()
    this.#ping()
    this.#timer = setInterval(() => this.#look(), Math.min(quietMs, settleMs))
    drained.session.once('close', () => clearInterval(this.#timer))
  }

  /** Holds the end of an answer back, if it has to be. @param end writes it @returns whether it will be written later */
  hold(end: () => void): boolean {
    this.#heldEnds?.push(end)
    return this.#heldEnds !== undefined
  }

  #look(): void {
    if (this.#heldEnds === undefined) {
      this.#close()
      return
    }
    const opened = this.#drained.openedStreams()
    const isQuiet = this.#isAcknowledged && opened === this.#openedBefore
    if (isQuiet || performance.now() >= this.#endsAt) this.#goAway()
    else if (this.#isAcknowledged) {
      this.#openedBefore = opened
      this.#ping()
    }
  }

  /** Its acknowledgement comes after all that the client has sent before it. */
  #ping(): void {
    this.#isAcknowledged = false
    this.#drained.session.ping((error) => {
      this.#isAcknowledged = !error
    })
  }

  #goAway(): void {
    const { session } = this.#drained
    session.goaway(constants.NGHTTP2_NO_ERROR, 2 ** 31 - 1)
    const ends = this.#heldEnds ?? []
    this.#heldEnds = undefined
    for (const end of ends) end()
  }

  /**
   * Names the last stream, once the first GOAWAY has left: until then requests are taken. Not once it is acknowledged:
   * without streams, neither side reads any more.
   */
  #close(): void {
    const { session } = this.#drained
    if (session.state.outboundQueueSize !== 0 && performance.now() < this.#endsAt + sendMsMax) return
    clearInterval(this.#timer)
    if (!session.closed) session.close()
  }
}
