import type { Socket } from 'node:net'
import { plainAddress } from './address.ts'
import { Intake, type IntakeEvents } from './intake.ts'
import { type HeadTooLarge, MalformedMessage } from './malformed.ts'
import type { RequestHead } from './request-head.ts'
import { type ResponseFraming, ResponseWriter } from './response-writer.ts'
import { StraightReader } from './straight-reader.ts'
import type { Expiring } from './sweep.ts'

/** Why there is no request to answer, though something came. */
export type Unreadable = MalformedMessage | HeadTooLarge | 'timeout'

/** Who carries out a request: takes its body, and is told what happens to its client. */
export interface RequestEvents {
  onBodyData(chunk: Buffer): void
  /** @param trailers name, value, name, value */
  onBodyEnd(trailers: readonly string[]): void
  /** The rest of the body cannot be read; the connection ends with the answer. */
  onBodyBroken(error: MalformedMessage): void
  /** More of the answer may be written. */
  onClientDrain(): void
  /** The client has left before the whole answer had. */
  onGone(): void
}

export interface ConnectionOptions {
  /** From the first byte of a head to its last, and from the connection to the first. */
  readonly requestTimeoutMs: number
  readonly keepAliveTimeoutMs: number
  readonly headBytesMax: number
  /** Whether answers are to say that the connection ends: asked for each. */
  isDraining(): boolean
  onRequest(connection: ClientConnection, head: RequestHead): void
  /** To be answered all the same; the connection ends with it. */
  onUnreadable(connection: ClientConnection, what: Unreadable): void
  /** The exchange of a request is over. @param isComplete whether the whole answer has left */
  onEnd(connection: ClientConnection, isComplete: boolean): void
}

/** How much of a body is read after its answer, so that the connection can go on; else it ends. */
const discardedBytesMax = 1_048_576
/** How much, and how long, a client may go on sending after an answer that ends the connection. */
const lingeringBytesMax = 16_777_216
const lingeringMs = 2_000
/** How long a client that has closed its side waits for more of an answer: it may have left altogether. */
const halfClosedMs = 1_000
/** How long a client may take nothing of its answer. */
const stalledMs = 600_000
/** An idle connection is kept longer than is said, so that a client which believes it is never cut. */
const keepAliveMarginMs = 1_000

/**
 * A client's connection: its requests one after the other (RFC 9112 9.3.2). What comes behind one that ends
 * the connection is never carried out (9.6).
 */
export class ClientConnection implements Expiring, IntakeEvents {
  readonly socket: Socket
  /** Of the other end, as text; empty where it has left already. */
  readonly peerAddress: string
  readonly protocol: 'http' | 'https'
  readonly #options: ConnectionOptions
  readonly #reader: StraightReader
  readonly #intake: Intake
  readonly #writer: ResponseWriter
  readonly #keepAliveLines: string
  /** The request that is under way. */
  head: RequestHead | undefined
  deadline: number
  #events: RequestEvents | undefined
  #isAnswering = false
  #closes = false
  #isLingering = false
  #discardedBytes = 0
  /** Set once the client has closed its side. */
  #halfClosed: NodeJS.Timeout | undefined

  constructor(socket: Socket, options: ConnectionOptions) {
    this.socket = socket
    this.peerAddress = plainAddress(socket.remoteAddress ?? '')
    this.protocol = 'encrypted' in socket ? 'https' : 'http'
    this.#options = options
    this.#reader = new StraightReader(socket, (chunk) => this.#intake.feed(chunk))
    this.#intake = new Intake(this.#reader, options.headBytesMax, this)
    this.#writer = new ResponseWriter(socket)
    const seconds = Math.floor(options.keepAliveTimeoutMs / 1_000)
    this.#keepAliveLines = `Connection: keep-alive\r\nKeep-Alive: timeout=${seconds}\r\n\r\n`
    this.deadline = performance.now() + options.requestTimeoutMs
    socket.on('drain', this.#drained).on('end', this.#ended)
    socket.on('error', () => socket.destroy())
    socket.on('close', this.#closed)
  }

  /** Whether an answer is under way. */
  get isAnswering(): boolean {
    return this.#isAnswering
  }

  /** Whether something of the answer has left; until then there may be another one instead. */
  get isHeadSent(): boolean {
    return this.#writer.hasBegun
  }

  get isBodyWhole(): boolean {
    return this.#intake.isBodyWhole
  }

  /** Says who carries out the request; the body waits for `wantBody`. undefined = nobody any more. */
  attach(events: RequestEvents | undefined): void {
    this.#events = events
  }

  /** Takes the request from whoever carries it out, as if the client had left. */
  takeBack(): void {
    const events = this.#events
    this.#events = undefined
    events?.onGone()
  }

  /** The connection is to end with this answer. */
  endAfterAnswer(): void {
    this.#closes = true
  }

  wantBody(): void {
    this.#intake.wantBody()
  }

  holdBody(): void {
    this.#intake.holdBody()
  }

  /** Whether the connection can go on after this answer, as far as can be told now. */
  canPersist(): boolean {
    const { head } = this
    if (!head?.isPersistent || this.#closes || this.#options.isDraining()) return false
    if (this.#intake.isBodyWhole) return true
    // A client that waits for 100 will not send the body now, or cannot be told from one that does.
    return !head.expectsContinue && (this.#intake.bodyRemaining ?? 0) <= discardedBytesMax
  }

  /** A 1xx. @param lines field lines, each ended by CR LF */
  inform(status: number, reason: string, lines: string): void {
    this.socket.write(`HTTP/1.1 ${status} ${reason}\r\n${lines}\r\n`, 'latin1')
  }

  /** Begins the answer. @param lines field lines, each ended by CR LF, without those of the connection */
  respond(status: number, reason: string, lines: string, framing: ResponseFraming): void {
    this.#closes = framing === 'until-close' || !this.canPersist()
    const coding = framing === 'chunked' ? 'Transfer-Encoding: chunked\r\n' : ''
    const ending = this.#closes ? 'Connection: close\r\n\r\n' : this.#keepAliveLines
    this.#writer.begin(`HTTP/1.1 ${status} ${reason}\r\n${lines}${coding}${ending}`, framing)
  }

  /** @returns false where more should wait for onClientDrain */
  write(chunk: Buffer): boolean {
    return this.#writer.write(chunk) || this.#stall()
  }

  /** Lets go what was held back to be sent in one piece. @returns false where more should wait for onClientDrain */
  flush(): boolean {
    return this.#writer.flush() || this.#stall()
  }

  /** The answer is whole. @param trailers field lines, each ended by CR LF */
  end(trailers = ''): void {
    this.#writer.end(trailers, this.#over)
  }

  /** The answer has been written past this connection, straight to the socket. */
  endElsewhere({ closes }: { readonly closes: boolean }): void {
    this.#closes = closes
    this.#over()
  }

  /** Ends an answer so that nobody can take it for a whole one. */
  breakOff(): void {
    // To a client of HTTP/1.0 the end of the connection is the end of the body: only a reset tells it.
    if (this.head?.minorVersion === 0 && this.protocol === 'http') this.socket.resetAndDestroy()
    else this.socket.destroy()
  }

  /** Gives the socket away, for a tunnel: the exchange ends when it closes. @returns what came early */
  release(): Buffer | undefined {
    this.deadline = Number.POSITIVE_INFINITY
    clearTimeout(this.#halfClosed)
    this.#events = undefined
    this.#reader.release()
    this.socket.off('drain', this.#drained).off('end', this.#ended)
    return this.#intake.waiting
  }

  /** The time is over for whatever it has been waiting. */
  expire(now: number): void {
    if (this.#isAnswering || this.#isLingering || !this.#intake.isWithinHead) this.socket.destroy()
    else {
      this.deadline = now + lingeringMs
      this.#refuse('timeout')
    }
  }

  onHeadBegun(): void {
    this.deadline = performance.now() + this.#options.requestTimeoutMs
  }

  onHead(head: RequestHead): void {
    this.head = head
    this.deadline = Number.POSITIVE_INFINITY
    this.#isAnswering = true
    this.#options.onRequest(this, head)
  }

  onBodyData(chunk: Buffer): void {
    this.#events?.onBodyData(chunk)
  }

  onBodyEnd(trailers: readonly string[]): void {
    if (this.#isAnswering) this.#events?.onBodyEnd(trailers)
    else this.#waitForNext()
  }

  onMisread(error: MalformedMessage | HeadTooLarge): void {
    this.#closes = true
    if (!this.#isAnswering && this.#intake.isBodyWhole) this.#refuse(error)
    else if (!this.#isAnswering) this.#linger()
    else if (error instanceof MalformedMessage) this.#events?.onBodyBroken(error)
  }

  onDiscarded(bytes: number): void {
    this.#discardedBytes += bytes
    if (this.#isLingering) {
      // What it goes on to send is left to the system, which slows it down; the answer can still be read.
      if (this.#discardedBytes > lingeringBytesMax) this.#reader.pause()
    } else if (!this.#isAnswering && this.#discardedBytes > discardedBytesMax) this.#linger()
  }

  #refuse(what: Unreadable): void {
    this.#closes = true
    this.#isAnswering = true
    this.#options.onUnreadable(this, what)
  }

  readonly #over = (error?: Error | null): void => {
    // Of a failed write the end of the socket tells.
    if (error || !this.#isAnswering) return
    this.#isAnswering = false
    this.#events = undefined
    if (this.head !== undefined) this.#options.onEnd(this, true)
    this.head = undefined
    this.#discardedBytes = 0
    if (this.#closes) this.#linger()
    else if (this.#intake.isBodyWhole) this.#waitForNext()
    else {
      this.deadline = performance.now() + lingeringMs
      this.#intake.next()
    }
  }

  #waitForNext(): void {
    this.deadline = performance.now() + this.#options.keepAliveTimeoutMs + keepAliveMarginMs
    this.#intake.next()
    if (this.#halfClosed && !this.#isAnswering) this.socket.end()
  }

  /**
   * Closes in a way that lets the client see its answer: to close while it still sends would be to reset the
   * connection (RFC 9112 9.6). What it sends is thrown away for a while instead.
   */
  #linger(): void {
    if (this.#isLingering) return
    this.#isLingering = true
    this.deadline = performance.now() + lingeringMs
    this.socket.end()
    this.#intake.goDeaf()
  }

  #stall(): false {
    this.deadline = performance.now() + stalledMs
    return false
  }

  readonly #drained = (): void => {
    if (!this.#isAnswering) return
    this.deadline = Number.POSITIVE_INFINITY
    this.#events?.onClientDrain()
  }

  readonly #ended = (): void => {
    if (this.#isLingering || !this.#isAnswering) this.socket.end()
    else if (this.#intake.isBodyWhole) this.#waitForAnswer(this.socket.bytesWritten)
    else this.socket.destroy()
  }

  /**
   * A client that has closed its side may wait for its answer, or may have left: that shows when something is
   * written to it. So it is waited for as long as something is, and a while.
   */
  #waitForAnswer(bytesWritten: number): void {
    this.#halfClosed = setTimeout(() => {
      if (this.socket.bytesWritten === bytesWritten && !this.socket.writableNeedDrain) this.socket.destroy()
      else this.#waitForAnswer(this.socket.bytesWritten)
    }, halfClosedMs)
  }

  readonly #closed = (): void => {
    clearTimeout(this.#halfClosed)
    if (!this.#isAnswering) return
    this.#isAnswering = false
    this.takeBack()
    if (this.head !== undefined) this.#options.onEnd(this, false)
  }
}
