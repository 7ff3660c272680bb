import type { Socket } from 'node:net'
import type { ConnectionOptions, RequestEvents, Unreadable } from './connection-events.ts'
import { watchHalfClosed } from './half-closed.ts'
import { type BodyState, Intake, type IntakeEvents } from './intake.ts'
import { Lingering } from './lingering.ts'
import { BodyTooSlow, type HeadTooLarge, MalformedMessage } from './malformed.ts'
import * as patience from './patience.ts'
import type { RequestHead } from './request-head.ts'
import type { ResponseFraming } from './response-writer.ts'
import { StraightReader } from './straight-reader.ts'
import type { Expiring } from './sweep.ts'
import { WritableConnection } from './writable-connection.ts'

/** A client's connection: one request at a time (RFC 9112 9.3.2), and none after one that ends the connection (9.6). */
export class ClientConnection extends WritableConnection<ClientConnection> implements Expiring, IntakeEvents {
  readonly #reader: StraightReader
  readonly #intake: Intake
  readonly #lingering = new Lingering()
  #events: RequestEvents | undefined
  #isAnswering = false
  #closes = false
  #discardedBytes = 0
  /** Set once the client has closed its side. */
  #stopWaiting: (() => void) | undefined

  constructor(socket: Socket, options: ConnectionOptions<ClientConnection>) {
    super(socket, options)
    this.#reader = new StraightReader(socket, this.#receive)
    this.#intake = new Intake(this.#reader, options, this)
    socket.on('drain', this.#drained).on('end', this.#ended)
    socket.on('error', () => socket.destroy()).on('close', this.#closed)
  }

  get bodyState(): BodyState {
    return this.#intake.bodyState
  }

  /** Sets who carries out the request; the body waits for `wantBody`. undefined = no longer anybody. */
  attach(events: RequestEvents | undefined): void {
    this.#events = events
  }

  /** Ends the attached handler's work on the request, as if the client had left. */
  takeBack(): void {
    const events = this.#events
    this.#events = undefined
    events?.onGone()
  }

  /** Makes the connection end with this answer. */
  endAfterAnswer(): void {
    this.#closes = true
  }

  wantBody(): void {
    this.#intake.wantBody()
    if (this.#isAnswering && !this.#intake.isBodyWhole) this.bodyRate.start()
  }

  holdBody(): void {
    this.bodyRate.stop()
    this.#intake.holdBody()
  }

  onBodyTooSlow(): void {
    this.#closes = true
    this.#events?.onBodyBroken(new BodyTooSlow('the body comes more slowly than limits.bodyRate'))
  }

  /** Whether the connection can go on after this answer, as far as known now. */
  canPersist(): boolean {
    if (!this.head?.isPersistent || this.#closes || this.options.isDraining()) return false
    if (this.#intake.isBodyWhole) return true
    // A client that waits for 100 may send the body after all, or not: what comes next could be either.
    return !this.head.expectsContinue && (this.#intake.bodyRemaining ?? 0) <= patience.discardedBytesMax
  }

  /** Begins the answer. @param lines field lines, each ended by CR LF, without those of the connection */
  respond(status: number, reason: string, lines: string, framing: ResponseFraming): void {
    this.#closes = framing === 'until-close' || !this.canPersist()
    this.writer.begin({ status, reason, lines, framing }, this.#closes ? undefined : this.options.keepAlive)
  }

  /** The answer is whole. @param last the rest of a counted body, as text, or the trailer lines after chunks */
  end(last = ''): void {
    this.awaitReader()
    this.writer.end(last, this.#over)
  }

  /** The answer has been written past this connection, straight to the socket. */
  endElsewhere({ closes }: { readonly closes: boolean }): void {
    this.#closes = closes
    this.#over()
  }

  /** Gives the socket away, for a tunnel: the exchange ends when it closes. @returns what the client has sent already */
  release(): Buffer | undefined {
    this.deadline = Number.POSITIVE_INFINITY
    this.#stopWaiting?.()
    this.bodyRate.stop()
    this.#events = undefined
    this.#reader.release()
    this.socket.off('drain', this.#drained).off('end', this.#ended)
    return this.#intake.waiting
  }

  /** The deadline has passed, whatever it was for. */
  expire(): void {
    if (this.#isAnswering || this.#lingering.isActive || !this.#intake.isWithinHead) this.socket.destroy()
    else this.#refuse('timeout')
  }

  readonly #receive = (chunk: Buffer): boolean =>
    this.#intake.feed(chunk) && this.#events?.hasPassedAll() === true

  onHeadBegun(): void {
    this.deadline = performance.now() + this.options.requestTimeoutMs
  }

  onHead(head: RequestHead): void {
    this.head = head
    this.bodyRate.begin(head.expectsContinue)
    this.deadline = Number.POSITIVE_INFINITY
    this.#isAnswering = true
    this.options.onRequest(this, head)
  }

  onBodyData(chunk: Buffer): void {
    this.bodyRate.count(chunk.length)
    this.#events?.onBodyData(chunk)
  }

  onBodyEnd(trailers: readonly string[]): void {
    this.bodyRate.stop()
    if (this.#isAnswering) this.#events?.onBodyEnd(trailers)
    else this.#waitForNext()
  }

  onMisread(error: MalformedMessage | HeadTooLarge): void {
    this.#closes = true
    if (!this.#isAnswering && this.#intake.isBodyWhole) this.#refuse(error)
    else if (!this.#isAnswering) this.#linger()
    else if (error instanceof MalformedMessage) this.#events?.onBodyBroken(error)
  }

  onDry(): void {
    if (!this.#isAnswering) this.socket.end()
    else if (!this.#intake.isBodyWhole) this.breakOff()
  }

  onDiscarded(bytes: number): void {
    this.#discardedBytes += bytes
    if (this.#lingering.isActive) {
      const deadline = this.#lingering.discard(bytes, this.options.sweep.sweptAt)
      // No more is read: the system slows the client down, which can still read the answer.
      if (deadline === undefined) this.#reader.pause()
      else this.deadline = deadline
    } else if (!this.#isAnswering && this.#discardedBytes > patience.discardedBytesMax) this.#linger()
  }

  #refuse(what: Unreadable): void {
    this.deadline = performance.now() + patience.discardingMs
    this.#closes = true
    this.#isAnswering = true
    this.options.onUnreadable(this, what)
  }

  readonly #over = (error?: Error | null): void => {
    // A failed write is handled when the socket closes.
    if (error || !this.#isAnswering) return
    this.#isAnswering = false
    this.bodyRate.stop()
    this.writer.hasBegun = false
    this.#events = undefined
    if (this.head !== undefined) this.options.onEnd(this, true)
    this.head = undefined
    this.#discardedBytes = 0
    if (this.#closes) this.#linger()
    else if (this.#intake.isBodyWhole) this.#waitForNext()
    else {
      this.deadline = performance.now() + patience.discardingMs
      this.#intake.next()
    }
  }

  #waitForNext(): void {
    this.deadline = this.options.sweep.sweptAt + this.writer.told.timeoutMs + patience.keepAliveMarginMs
    this.#intake.next()
  }

  /** Closes without a reset, so that the client sees the answer: what it still sends is thrown away (RFC 9112 9.6). */
  #linger(): void {
    if (this.#lingering.isActive) return
    this.deadline = this.#lingering.begin(performance.now())
    this.socket.end()
    this.#intake.goDeaf()
  }

  readonly #drained = (): void => {
    if (!this.#isAnswering) return
    this.deadline = Number.POSITIVE_INFINITY
    this.#events?.onClientDrain()
  }

  readonly #ended = (): void => {
    if (this.#isAnswering) this.#stopWaiting = watchHalfClosed(this, () => this.#events?.isLent)
    this.#intake.end()
  }

  readonly #closed = (): void => {
    this.bodyRate.stop()
    this.#intake.close()
    if (!this.#isAnswering) return
    this.#isAnswering = false
    this.takeBack()
    if (this.head !== undefined) this.options.onEnd(this, false)
    this.head = undefined
  }
}
