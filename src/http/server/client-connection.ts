import { monotonicClock } from '#platform/time.ts'
import type { BodyState, ClientExchange, OpenConnection, ResponseFraming } from '../client-exchange.ts'
import { PrefaceReader } from '../h2/framing/preface.ts'
import {
  BodyTooSlow,
  type HeadTooLarge,
  MalformedMessage,
  type RequestHead,
  type Unreadable,
  withoutTexts,
} from '../request-head.ts'
import { DirectSocketReader } from '../socket-reader.ts'
import type { ClientSocket, ClientSocketEvents } from './client-socket.ts'
import { watchHalfClosed } from './half-closed.ts'
import { RequestReader, type RequestReaderEvents } from './request-reader.ts'
import { discardedBytesMax, discardTimeoutMs, keepAliveMarginMs, LingeringClose } from './slow-clients.ts'
import { type ConnectionOptions, WritableConnection } from './writable-connection.ts'

/** A client's connection: one request at a time (RFC 9112 9.3.2), and none after one that ends the connection (9.6). */
export class ClientConnection
  extends WritableConnection
  implements ClientExchange, OpenConnection, ClientSocketEvents, RequestReaderEvents
{
  readonly #socketReader: DirectSocketReader
  readonly #requestReader: RequestReader
  readonly #lingering = new LingeringClose()
  /** undefined = it is known to be HTTP/1.1. */
  #preface: PrefaceReader | undefined
  #isAnswering = false
  #isClosing = false
  #discardedBytes = 0
  #stopHalfClosedWatch: (() => void) | undefined

  constructor(socket: ClientSocket, options: ConnectionOptions) {
    super(socket, options)
    socket.open(this)
    this.#socketReader = new DirectSocketReader(socket.source, this.#receive, true)
    this.#requestReader = new RequestReader(this.#socketReader, options, this)
    this.#preface = options.onPreface && new PrefaceReader()
  }

  exchanges(): readonly ClientExchange[] {
    return [this]
  }

  get bodyState(): BodyState {
    return this.#requestReader.bodyState
  }

  closeAfterAnswer(): void {
    this.#isClosing = true
  }

  takeBody(): Buffer | undefined {
    return this.#requestReader.takeBody()
  }

  resumeBody(): void {
    this.#requestReader.resumeBody()
    if (this.#isAnswering && !this.#requestReader.isBodyWhole) this.bodyRate.start()
  }

  pauseBody(): void {
    this.bodyRate.stop()
    this.#requestReader.pauseBody()
  }

  onBodyTooSlow(): void {
    this.#isClosing = true
    this.events?.onBodyError(new BodyTooSlow('the body arrives more slowly than limits.bodyRate'))
  }

  canPersist(): boolean {
    if (!this.head?.isPersistent || this.#isClosing || this.options.isDraining()) return false
    if (this.#requestReader.isBodyWhole) return true
    // What remains of a body of unknown length is bounded as it arrives (onDiscard).
    // A client that waits for a 100 may or may not send the body after all, so the next bytes are ambiguous.
    return !this.head.expectsContinue && (this.#requestReader.bodyRemaining ?? 0) <= discardedBytesMax
  }

  respond(status: number, reason: string, lines: string, framing: ResponseFraming): void {
    this.#isClosing = framing === 'until-close' || !this.canPersist()
    const keepAlive = this.#isClosing ? undefined : this.options.keepAlive
    this.writer.begin({ status, reason, lines, framing }, keepAlive)
  }

  endOnSocket(persists: boolean): void {
    this.#isClosing = !persists
    this.#endExchange()
  }

  acceptUpgrade(reason: string, lines: string): ReturnType<ClientExchange['acceptUpgrade']> {
    const upgraded = { firstBytes: this.release(), stream: this.socket }
    this.writer.writeInformation(101, reason, `Connection: Upgrade\r\nUpgrade: websocket\r\n${lines}`)
    if (this.head) this.head = withoutTexts(this.head)
    return upgraded
  }

  /** Gives up the socket: the exchange ends when it closes. @returns what the client has already sent */
  release(): Buffer | undefined {
    this.deadline = Number.POSITIVE_INFINITY
    this.#stopHalfClosedWatch?.()
    this.bodyRate.stop()
    this.events = undefined
    this.#socketReader.release()
    this.clientSocket.release()
    return this.#requestReader.buffered
  }

  expire(): void {
    if (this.#isAnswering || this.#lingering.isActive || !this.#requestReader.isWithinHead)
      this.clientSocket.destroy()
    else this.#refuse('timeout')
  }

  readonly #receive = (chunk: Buffer): boolean => {
    this.writer.writeNow()
    const preface = this.#preface
    const bytes = preface === undefined ? chunk : preface.read(chunk)
    if (preface?.isFound === true) {
      this.release()
      this.options.onPreface?.(this, bytes)
      return false
    }
    if (preface?.isAbsent === true) this.#preface = undefined
    return this.#requestReader.feed(bytes) && this.events?.isChunkReleased() === true
  }

  onHeadStart(): void {
    this.deadline = monotonicClock() + this.options.requestTimeoutMs
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
    this.events?.onBodyData(chunk)
  }

  onBodyEnd(trailers: readonly string[]): void {
    this.bodyRate.stop()
    if (this.#isAnswering) this.events?.onBodyEnd(trailers)
    else this.#waitForNext()
  }

  onParseError(error: MalformedMessage | HeadTooLarge): void {
    this.#isClosing = true
    if (!this.#isAnswering && this.#requestReader.isBodyWhole) this.#refuse(error)
    else if (!this.#isAnswering) this.#linger()
    else if (error instanceof MalformedMessage) this.events?.onBodyError(error)
  }

  onInputEnd(): void {
    this.writer.writeNow()
    if (!this.#isAnswering) this.clientSocket.end()
    else if (!this.#requestReader.isBodyWhole) this.abort()
  }

  onDiscard(bytes: number): void {
    this.#discardedBytes += bytes
    if (this.#lingering.isActive) {
      const deadline = this.#lingering.discard(bytes, this.options.connections.sweptAt)
      // Reading stops: TCP slows the client down, and it can still read the response.
      if (deadline === undefined) this.#socketReader.pause()
      else this.deadline = deadline
    } else if (!this.#isAnswering && this.#discardedBytes > discardedBytesMax) this.#linger()
  }

  #refuse(what: Unreadable): void {
    this.deadline = monotonicClock() + discardTimeoutMs
    this.#isClosing = true
    this.#isAnswering = true
    this.options.onUnreadable(this, what)
  }

  protected readonly onAnswerWritten = (error?: Error | null): void => {
    // A failed write is handled when the socket closes.
    if (!error) this.#endExchange()
  }

  #endExchange(): void {
    if (!this.#isAnswering) return
    this.#isAnswering = false
    this.bodyRate.stop()
    this.writer.hasBegun = false
    this.events = undefined
    const { head } = this
    if (head !== undefined) this.options.onEnd(this, true)
    this.head = undefined
    this.#discardedBytes = 0
    if (this.#isClosing) this.#close(head)
    else if (this.#requestReader.isBodyWhole) this.#waitForNext()
    else {
      this.deadline = monotonicClock() + discardTimeoutMs
      this.#requestReader.nextRequest()
    }
  }

  #waitForNext(): void {
    this.deadline =
      this.options.connections.sweptAt + this.writer.announcedKeepAlive.timeoutMs + keepAliveMarginMs
    this.#requestReader.nextRequest()
  }

  #close(last: RequestHead | undefined): void {
    // A client that has asked for it sends nothing more (RFC 9112 9.6). After a body, old ones send an empty line.
    const isSilent = last?.isPersistent === false && last.body.kind === 'none'
    if (!isSilent || this.#requestReader.buffered || !this.clientSocket.close()) this.#linger()
  }

  /** Closes without a reset, so that the client sees the response; further input is discarded (RFC 9112 9.6). */
  #linger(): void {
    if (this.#lingering.isActive) return
    this.deadline = this.#lingering.begin(monotonicClock())
    this.clientSocket.end()
    this.#requestReader.discardInput()
  }

  onDrain(): void {
    // The end of a response that is still to be written keeps its timeout.
    if (this.#isAnswering && !this.writer.isEnding) this.deadline = Number.POSITIVE_INFINITY
    this.events?.onClientDrain()
  }

  onEnd(): void {
    this.#socketReader.deliverDeferred()
    this.writer.writeNow()
    if (this.#isAnswering)
      this.#stopHalfClosedWatch = watchHalfClosed(this, () => this.events?.writesToSocket)
    this.#requestReader.end()
  }

  onClose(): void {
    // Also after `release`: the connection stays in the sweep until its socket closes.
    this.options.connections.remove(this)
    this.bodyRate.stop()
    this.#requestReader.close()
    if (!this.#isAnswering) return
    this.#isAnswering = false
    this.detach()
    if (this.head !== undefined) this.options.onEnd(this, false)
    this.head = undefined
  }
}
