import type { BodyState } from '../client-exchange.ts'
import { chunksPerTurnMax } from '../message/chunked-decoder.ts'
import { KeptBytes } from '../message/kept-bytes.ts'
import { noBytes, ownedCopy, restOf, smallChunkBytesMax } from '../read-memory.ts'
import { HeadTooLarge, MalformedMessage, type RequestHead } from '../request-head.ts'
import type { SocketReader } from '../socket-reader.ts'
import { BodyReader } from './request-framing.ts'
import { type ParserOptions, RequestParser } from './request-parser.ts'

export interface RequestReaderEvents {
  /** The first bytes of a head have arrived, but not all: called once for each head. */
  onHeadStart(): void
  onHead(head: RequestHead): void
  /** @param chunk valid until this returns (see `ownedCopy`) */
  onBodyData(chunk: Buffer): void
  /** @param trailers name, value, name, value */
  onBodyEnd(trailers: readonly string[]): void
  /** The client's input cannot be parsed, nor can anything after it. */
  onParseError(error: MalformedMessage | HeadTooLarge): void
  /** Bytes have been discarded. */
  onDiscard(bytes: number): void
  /** After `end`: all input has been consumed, or is too little to complete the body. */
  onInputEnd(): void
}

/** Where the bytes come from. */
type InputSource = Pick<SocketReader, 'pause' | 'resume' | 'yieldTurn'>

/** How much may be buffered behind a request in flight before reading stops. */
const bufferedBytesMax = 65_536
/**
 * After this many requests since it last yielded, a connection yields to others until the next turn of the event loop.
 */
export const requestsPerTurnMax = 100

/**
 * Splits a client's input into requests, one at a time: what follows a request is buffered until `nextRequest`, and its
 * body until `resumeBody`. Reading from the socket soon stops while nothing can be consumed.
 */
export class RequestReader {
  readonly #source: InputSource
  readonly #events: RequestReaderEvents
  readonly #parser: RequestParser
  #body: BodyReader | undefined
  #buffered: KeptBytes | undefined
  /** What came with the head that is being reported, and after it. */
  #afterHead: Buffer = noBytes
  #hasHeadStarted = false
  /** Counted since it last yielded, which costs nothing to a client that waits for each response. */
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
    if (this.#body === undefined) return 'complete'
    return this.#buffered === undefined ? 'pending' : 'buffered'
  }

  /** How much of the body is still to arrive; undefined = unknown. */
  get bodyRemaining(): number | undefined {
    return this.#body === undefined ? 0 : this.#body.remaining
  }

  /** Input that has not been consumed yet. */
  get buffered(): Buffer | undefined {
    return this.#buffered?.all
  }

  /** @returns whether nothing of the chunk is kept for later */
  feed(chunk: Buffer): boolean {
    const buffered = this.#buffered
    if (buffered === undefined) this.#consume(chunk)
    else {
      buffered.add(chunk)
      if (this.#canConsume()) this.#continueReading()
      else this.#pauseIfFull(buffered.length)
    }
    return this.#buffered === undefined && !this.#parser.isWithinHead
  }

  /** From now on the body is delivered as it arrives. */
  resumeBody(): void {
    this.#isBodyFlowing = true
    this.#continueReading()
  }

  /** See `ClientExchange.takeBody`. */
  takeBody(): Buffer | undefined {
    const length = this.#body?.remaining
    const rest = this.#afterHead
    if (length === undefined || length > smallChunkBytesMax || length > rest.length) return undefined
    this.#body = undefined
    this.#afterHead = restOf(rest, length)
    return length === rest.length ? rest : rest.subarray(0, length)
  }

  pauseBody(): void {
    this.#isBodyFlowing = false
    this.#source.pause()
  }

  /** The request has been answered: the rest of its body is discarded, and the next request may begin. */
  nextRequest(): void {
    this.#isRequestInFlight = false
    if (this.#body !== undefined || this.#buffered !== undefined || this.#hasEnded) this.#continueReading()
    // The source may have been paused since the last piece of the body.
    else this.#source.resume()
  }

  /** The client has ended its input; what is buffered is still consumed. */
  end(): void {
    this.#hasEnded = true
    this.#checkEnd()
  }

  /** From now on all input is discarded unread. */
  discardInput(): void {
    this.#isDiscarding = true
    const buffered = this.#buffered
    this.#buffered = undefined
    if (buffered !== undefined) this.#events.onDiscard(buffered.length)
    this.#source.resume()
  }

  /** The connection is gone: nothing more is consumed, not even what is buffered. */
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
    if (buffered !== undefined) this.#consume(buffered.all)
    if (this.#hasEnded) this.#checkEnd()
    else if (this.#buffered === undefined) this.#source.resume()
  }

  #checkEnd(): void {
    const left = this.#buffered?.length ?? 0
    const isInputOver = left === 0 || (this.#body?.remaining ?? 0) > left
    // After `discardInput` a response is still being sent, so the end of input is not reported.
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
      this.#buffered = new KeptBytes(ownedCopy(rest))
      this.#pauseIfFull(rest.length)
    }
  }

  #pauseIfFull(bufferedBytes: number): void {
    if (this.#body !== undefined || bufferedBytes > bufferedBytesMax) this.#source.pause()
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
      return noBytes
    }
  }

  #readHead(bytes: Buffer): Buffer {
    const head = this.#parser.feed(bytes)
    if (head === undefined) {
      this.#reportHeadStart()
      return noBytes
    }
    this.#hasHeadStarted = false
    this.#isRequestInFlight = true
    if (++this.#requestsSinceYield === requestsPerTurnMax) this.#yieldTurn()
    this.#isBodyFlowing = false
    if (head.body.kind !== 'none') this.#body = new BodyReader(head.body, this.#forwardData)
    this.#afterHead = restOf(bytes, this.#parser.end)
    this.#events.onHead(head)
    const rest = this.#afterHead
    this.#afterHead = noBytes
    return rest
  }

  /** Reports it once: empty lines, which may arrive in halves, must not postpone the deadline (RFC 9112 2.2). */
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
    if (this.#isRequestInFlight) this.#events.onBodyData(chunk)
  }
}
