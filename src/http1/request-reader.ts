import { BodyReader } from './body-reader.ts'
import { chunksPerTurnMax } from './chunked-decoder.ts'
import { HeadTooLarge, MalformedMessage } from './malformed-message.ts'
import { ownedCopy } from './read-buffers.ts'
import type { RequestHead } from './request-head.ts'
import { type ParserOptions, RequestParser } from './request-parser.ts'

/** The events of an intake. */
export interface RequestReaderEvents {
  /** The first bytes of a head have come, but not all of it: told once for each head. */
  onHeadStart(): void
  onHead(head: RequestHead): void
  onBodyData(chunk: Buffer): void
  /** @param trailers name, value, name, value */
  onBodyEnd(trailers: readonly string[]): void
  /** What the client sent cannot be read, nor can anything after it. */
  onParseError(error: MalformedMessage | HeadTooLarge): void
  /** Bytes have been thrown away. */
  onDiscard(bytes: number): void
  /** After `end`: everything that came has been taken, or is too little to complete the body. */
  onInputEnd(): void
}

/**
 * How far the body of the request has come: `begun` means that a part of it waits to be wanted, which shows once
 * `onHead` has returned. A request without a body is `whole`.
 */
export type BodyState = 'whole' | 'begun' | 'awaited'

/** Where the bytes come from. */
export interface InputSource {
  /** A little may still come after this. */
  pause(): void
  resume(): void
  /** Reads on in the next turn of the event loop only, so that other connections have theirs. */
  yieldTurn(): void
}

/** How much may wait behind a request that is under way; then reading stops. */
const bufferedBytesMax = 65_536
/** So many requests of one connection in a turn of the event loop: then other connections have theirs. */
export const requestsPerTurnMax = 100

/**
 * Splits what a client sends into requests, one at a time: what follows a request waits until `next`, and its body
 * until it is wanted. Reading from the socket stops soon while nothing can be taken.
 */
export class RequestReader {
  readonly #source: InputSource
  readonly #events: RequestReaderEvents
  readonly #parser: RequestParser
  #body: BodyReader | undefined
  #buffered: Buffer | undefined
  #hasHeadStarted = false
  /** Since it gave way last: a client that sends no request before the answer to the last loses nothing by that. */
  #requestsSinceYield = 0
  #isYielding = false
  #isRequestInFlight = false
  #isBodyFlowing = false
  #isConsuming = false
  #isDiscarding = false
  #hasEnded = false

  constructor(source: InputSource, options: ParserOptions, events: RequestReaderEvents) {
    this.#source = source
    this.#events = events
    this.#parser = new RequestParser(options)
  }

  get isWithinHead(): boolean {
    return this.#parser.isWithinHead
  }

  get isBodyWhole(): boolean {
    return this.#body === undefined
  }

  get bodyState(): BodyState {
    if (this.#body === undefined) return 'whole'
    return this.#buffered === undefined ? 'awaited' : 'begun'
  }

  /** How much of the body is still to come; undefined = unknown. */
  get bodyRemaining(): number | undefined {
    return this.#body === undefined ? 0 : this.#body.remaining
  }

  /** What has come and has not been taken. */
  get buffered(): Buffer | undefined {
    return this.#buffered
  }

  /** @returns whether nothing of the chunk is kept for later here */
  feed(chunk: Buffer): boolean {
    const buffered = this.#buffered
    this.#buffered = undefined
    this.#consume(buffered === undefined ? chunk : Buffer.concat([buffered, chunk]))
    return this.#buffered === undefined && !this.#parser.isWithinHead
  }

  /** From now on the body is handed on as it comes. */
  resumeBody(): void {
    this.#isBodyFlowing = true
    this.#continueReading()
  }

  pauseBody(): void {
    this.#isBodyFlowing = false
    this.#source.pause()
  }

  /** The request has been answered: the rest of its body is thrown away, and the next request may come. */
  nextRequest(): void {
    this.#isRequestInFlight = false
    if (this.#body !== undefined || this.#buffered !== undefined || this.#hasEnded) this.#continueReading()
    // The source may have been paused since the last piece of a body.
    else this.#source.resume()
  }

  /** The client sends nothing more; what waits already is still taken. */
  end(): void {
    this.#hasEnded = true
    this.#checkEnd()
  }

  /** From now on whatever comes is thrown away unread. */
  discardInput(): void {
    this.#isDiscarding = true
    const buffered = this.#buffered
    this.#buffered = undefined
    if (buffered !== undefined) this.#events.onDiscard(buffered.length)
    this.#source.resume()
  }

  /** The connection is gone: nothing more is taken, of what waits either. */
  close(): void {
    this.#isDiscarding = true
    this.#buffered = undefined
  }

  #yieldTurn(): void {
    this.#requestsSinceYield = 0
    this.#isYielding = true
    this.#source.yieldTurn()
    setImmediate(() => {
      this.#isYielding = false
      if (!this.#isRequestInFlight && !this.#isDiscarding) this.#continueReading()
    })
  }

  #continueReading(): void {
    if (this.#isConsuming) return
    const buffered = this.#buffered
    this.#buffered = undefined
    if (buffered !== undefined) this.#consume(buffered)
    if (this.#hasEnded) this.#checkEnd()
    else if (this.#buffered === undefined) this.#source.resume()
  }

  #checkEnd(): void {
    const left = this.#buffered?.length ?? 0
    const isInputOver = left === 0 || (this.#body?.remaining ?? 0) > left
    // After `goDeaf` an answer is still being sent: do not report the end of input.
    if (isInputOver && !this.#isDiscarding) this.#events.onInputEnd()
  }

  #consume(bytes: Buffer): void {
    this.#isConsuming = true
    let rest = bytes
    while (rest.length > 0 && this.#canConsume()) rest = this.#step(rest)
    this.#isConsuming = false
    if (rest.length === 0) return
    if (this.#isDiscarding) this.#events.onDiscard(rest.length)
    else {
      this.#buffered = ownedCopy(rest)
      if (this.#body !== undefined || rest.length > bufferedBytesMax) this.#source.pause()
    }
  }

  #canConsume(): boolean {
    if (this.#isDiscarding) return false
    if (this.#isRequestInFlight) return this.#body !== undefined && this.#isBodyFlowing
    return this.#body !== undefined || !this.#isYielding
  }

  #step(bytes: Buffer): Buffer {
    try {
      return this.#body === undefined ? this.#readHead(bytes) : this.#readBody(this.#body, bytes)
    } catch (error) {
      if (!(error instanceof MalformedMessage || error instanceof HeadTooLarge)) throw error
      this.#isDiscarding = true
      this.#events.onParseError(error)
      return nothing
    }
  }

  #readHead(bytes: Buffer): Buffer {
    const head = this.#parser.feed(bytes)
    if (head === undefined) {
      this.#reportHeadStart()
      return nothing
    }
    this.#hasHeadStarted = false
    this.#isRequestInFlight = true
    if (++this.#requestsSinceYield === requestsPerTurnMax) this.#yieldTurn()
    this.#isBodyFlowing = false
    if (head.body.kind !== 'none') this.#body = new BodyReader(head.body, this.#forwardData)
    const rest = bytes.length === this.#parser.end ? nothing : bytes.subarray(this.#parser.end)
    this.#events.onHead(head)
    return rest
  }

  /** Tells it once: empty lines, which may come in halves, must not put off the deadline (RFC 9112 2.2). */
  #reportHeadStart(): void {
    if (this.#hasHeadStarted || !this.#parser.isWithinHead) return
    this.#hasHeadStarted = true
    this.#events.onHeadStart()
  }

  #readBody(body: BodyReader, bytes: Buffer): Buffer {
    const rest = body.feed(bytes)
    if (body.chunksRead > chunksPerTurnMax) this.#source.yieldTurn()
    if (!this.#isRequestInFlight) this.#events.onDiscard(bytes.length - rest.length)
    if (body.trailers === undefined) return rest
    this.#body = undefined
    this.#events.onBodyEnd(body.trailers)
    return rest
  }

  readonly #forwardData = (chunk: Buffer): void => {
    if (this.#isRequestInFlight) this.#events.onBodyData(ownedCopy(chunk))
  }
}

const nothing = Buffer.alloc(0)
