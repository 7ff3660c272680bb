import { BodyReader } from './body-reader.ts'
import { chunksPerTurnMax } from './chunked-decoder.ts'
import { HeadTooLarge, MalformedMessage } from './malformed.ts'
import type { RequestHead } from './request-head.ts'
import { type ParserTerms, RequestParser } from './request-parser.ts'
import { kept } from './shared-memory.ts'

/** The events of an intake. */
export interface IntakeEvents {
  /** The first bytes of a head have come, but not all of it: told once for each head. */
  onHeadBegun(): void
  onHead(head: RequestHead): void
  onBodyData(chunk: Buffer): void
  /** @param trailers name, value, name, value */
  onBodyEnd(trailers: readonly string[]): void
  /** What the client sent cannot be read, nor can anything after it. */
  onMisread(error: MalformedMessage | HeadTooLarge): void
  /** Bytes have been thrown away. */
  onDiscarded(bytes: number): void
  /** After `end`: everything that came has been taken, or is too little to complete the body. */
  onDry(): void
}

/**
 * How far the body of the request has come: `begun` means that a part of it waits to be wanted, which shows once
 * `onHead` has returned. A request without a body is `whole`.
 */
export type BodyState = 'whole' | 'begun' | 'awaited'

/** Where the bytes come from. */
export interface Source {
  /** A little may still come after this. */
  pause(): void
  resume(): void
  /** Reads on in the next turn of the event loop only, so that other connections have theirs. */
  giveWay(): void
}

/** How much may wait behind a request that is under way; then reading stops. */
const waitingBytesMax = 65_536
/** So many requests of one connection in a turn of the event loop: then other connections have theirs. */
export const requestsPerTurnMax = 100

/**
 * Splits what a client sends into requests, one at a time: what follows a request waits until `next`, and its body
 * until it is wanted. Reading from the socket stops soon while nothing can be taken.
 */
export class Intake {
  readonly #source: Source
  readonly #events: IntakeEvents
  readonly #parser: RequestParser
  #body: BodyReader | undefined
  #waiting: Buffer | undefined
  #hasHeadBegun = false
  /** Since it gave way last: a client that sends no request before the answer to the last loses nothing by that. */
  #requestsTaken = 0
  #isGivingWay = false
  #isRequestUnderWay = false
  #isBodyWanted = false
  #isTaking = false
  #isDeaf = false
  #hasEnded = false

  constructor(source: Source, terms: ParserTerms, events: IntakeEvents) {
    this.#source = source
    this.#events = events
    this.#parser = new RequestParser(terms)
  }

  get isWithinHead(): boolean {
    return this.#parser.isWithinHead
  }

  get isBodyWhole(): boolean {
    return this.#body === undefined
  }

  get bodyState(): BodyState {
    if (this.#body === undefined) return 'whole'
    return this.#waiting === undefined ? 'awaited' : 'begun'
  }

  /** How much of the body is still to come; undefined = unknown. */
  get bodyRemaining(): number | undefined {
    return this.#body === undefined ? 0 : this.#body.remaining
  }

  /** What has come and has not been taken. */
  get waiting(): Buffer | undefined {
    return this.#waiting
  }

  /** @returns whether nothing of the chunk is kept for later here */
  feed(chunk: Buffer): boolean {
    const waiting = this.#waiting
    this.#waiting = undefined
    this.#take(waiting === undefined ? chunk : Buffer.concat([waiting, chunk]))
    return this.#waiting === undefined && !this.#parser.isWithinHead
  }

  /** From now on the body is handed on as it comes. */
  wantBody(): void {
    this.#isBodyWanted = true
    this.#goOn()
  }

  holdBody(): void {
    this.#isBodyWanted = false
    this.#source.pause()
  }

  /** The request has been answered: the rest of its body is thrown away, and the next request may come. */
  next(): void {
    this.#isRequestUnderWay = false
    if (this.#body !== undefined || this.#waiting !== undefined || this.#hasEnded) this.#goOn()
    // The source may have been paused since the last piece of a body.
    else this.#source.resume()
  }

  /** The client sends nothing more; what waits already is still taken. */
  end(): void {
    this.#hasEnded = true
    this.#checkEnd()
  }

  /** From now on whatever comes is thrown away unread. */
  goDeaf(): void {
    this.#isDeaf = true
    const waiting = this.#waiting
    this.#waiting = undefined
    if (waiting !== undefined) this.#events.onDiscarded(waiting.length)
    this.#source.resume()
  }

  /** The connection is gone: nothing more is taken, of what waits either. */
  close(): void {
    this.#isDeaf = true
    this.#waiting = undefined
  }

  #giveWay(): void {
    this.#requestsTaken = 0
    this.#isGivingWay = true
    this.#source.giveWay()
    setImmediate(() => {
      this.#isGivingWay = false
      if (!this.#isRequestUnderWay && !this.#isDeaf) this.#goOn()
    })
  }

  #goOn(): void {
    if (this.#isTaking) return
    const waiting = this.#waiting
    this.#waiting = undefined
    if (waiting !== undefined) this.#take(waiting)
    if (this.#hasEnded) this.#checkEnd()
    else if (this.#waiting === undefined) this.#source.resume()
  }

  #checkEnd(): void {
    const left = this.#waiting?.length ?? 0
    const isDry = left === 0 || (this.#body?.remaining ?? 0) > left
    // After `goDeaf` an answer is still being sent: do not report the end of input.
    if (isDry && !this.#isDeaf) this.#events.onDry()
  }

  #take(bytes: Buffer): void {
    this.#isTaking = true
    let rest = bytes
    while (rest.length > 0 && this.#canTake()) rest = this.#step(rest)
    this.#isTaking = false
    if (rest.length === 0) return
    if (this.#isDeaf) this.#events.onDiscarded(rest.length)
    else {
      this.#waiting = kept(rest)
      if (this.#body !== undefined || rest.length > waitingBytesMax) this.#source.pause()
    }
  }

  #canTake(): boolean {
    if (this.#isDeaf) return false
    if (this.#isRequestUnderWay) return this.#body !== undefined && this.#isBodyWanted
    return this.#body !== undefined || !this.#isGivingWay
  }

  #step(bytes: Buffer): Buffer {
    try {
      return this.#body === undefined ? this.#readHead(bytes) : this.#readBody(this.#body, bytes)
    } catch (error) {
      if (!(error instanceof MalformedMessage || error instanceof HeadTooLarge)) throw error
      this.#isDeaf = true
      this.#events.onMisread(error)
      return nothing
    }
  }

  #readHead(bytes: Buffer): Buffer {
    const head = this.#parser.feed(bytes)
    if (head === undefined) {
      this.#noteHeadBegun()
      return nothing
    }
    this.#hasHeadBegun = false
    this.#isRequestUnderWay = true
    if (++this.#requestsTaken === requestsPerTurnMax) this.#giveWay()
    this.#isBodyWanted = false
    if (head.body.kind !== 'none') this.#body = new BodyReader(head.body, this.#passData)
    const rest = bytes.length === this.#parser.end ? nothing : bytes.subarray(this.#parser.end)
    this.#events.onHead(head)
    return rest
  }

  /** Tells it once: empty lines, which may come in halves, must not put off the deadline (RFC 9112 2.2). */
  #noteHeadBegun(): void {
    if (this.#hasHeadBegun || !this.#parser.isWithinHead) return
    this.#hasHeadBegun = true
    this.#events.onHeadBegun()
  }

  #readBody(body: BodyReader, bytes: Buffer): Buffer {
    const rest = body.feed(bytes)
    if (body.chunksRead > chunksPerTurnMax) this.#source.giveWay()
    if (!this.#isRequestUnderWay) this.#events.onDiscarded(bytes.length - rest.length)
    if (body.trailers === undefined) return rest
    this.#body = undefined
    this.#events.onBodyEnd(body.trailers)
    return rest
  }

  readonly #passData = (chunk: Buffer): void => {
    if (this.#isRequestUnderWay) this.#events.onBodyData(kept(chunk))
  }
}

const nothing = Buffer.alloc(0)
