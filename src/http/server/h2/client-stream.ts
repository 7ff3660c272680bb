import type { Socket } from 'node:net'
import { monotonicClock } from '#platform/time.ts'
import { clientCertificateOf } from '../../client-certificate.ts'
import {
  type BodyState,
  type ClientExchange,
  type ExchangeOptions,
  isExtendedConnect,
  type RequestEvents,
  type ResponseFraming,
  type UpgradedStream,
} from '../../client-exchange.ts'
import { addLines, headWriter, isAcceptOfKey } from '../../h2/framing/fields.ts'
import type { FrameStream } from '../../h2/framing/frame-stream.ts'
import { errorCode } from '../../h2/framing/protocol.ts'
import type { StreamEvents } from '../../h2/framing/streams.ts'
import { BodyTooSlow, type RequestHead, withoutTexts } from '../../request-head.ts'
import { BodyRate, type BodySender, LingeringClose, sendTimeoutMs } from '../slow-clients.ts'
import { StreamDuplex } from './stream-duplex.ts'

/** The connection that a stream belongs to. */
export interface StreamOwner {
  readonly socket: Socket
  readonly peer: Pick<ClientExchange, 'peerAddress' | 'protocol'>
  readonly options: ExchangeOptions
  onStreamClosed(): void
}

/** The client's side of an exchange in HTTP/2, which is a stream. */
export class ClientStream implements ClientExchange, StreamEvents, BodySender {
  readonly isHttp2 = true
  readonly socket = undefined
  head: RequestHead | undefined
  listenerState: object | undefined
  /** Whether the method of an unreadable head is HEAD, to which no response has content (RFC 9110 9.3.2). */
  isHeadMethod = false
  /** Checked by its connection in each sweep. */
  deadline = Number.POSITIVE_INFINITY
  readonly #stream: FrameStream
  readonly session: StreamOwner
  #events: RequestEvents | undefined
  /** undefined = the request has no body. */
  #bodyRate: BodyRate | undefined
  /** undefined = the response has not been sent, or nothing is expected after it. */
  #lingering: LingeringClose | undefined
  isHeadSent = false
  #isAnswering = true
  framing: ResponseFraming = 'none'
  /** The status of the response until its head is sent; 0 = there is none. */
  #status = 0
  #lines = ''

  constructor(stream: FrameStream, owner: StreamOwner) {
    this.#stream = stream
    this.session = owner
    stream.events = this
    stream.exchange = this
  }

  begin(head: RequestHead): void {
    this.head = head
    const { body, expectsContinue } = head
    if (body.kind !== 'none') {
      this.#bodyRate = new BodyRate(this.session.options, this)
      this.#bodyRate.begin(expectsContinue)
    }
    if (body.kind !== 'chunked' && head.upgrade === undefined)
      this.#stream.body.expectedBytes = body.kind === 'counted' ? body.length : 0
    this.session.options.onRequest(this, head)
  }

  get peerAddress(): string {
    return this.session.peer.peerAddress
  }

  get protocol(): 'http' | 'https' {
    return this.session.peer.protocol
  }

  get clientCertificate() {
    return clientCertificateOf(this.session.socket)
  }

  get bodyState(): BodyState {
    return this.#bodyRate === undefined || this.#stream.body.isRead ? 'complete' : 'pending'
  }

  get hasWrittenAll(): boolean {
    return this.#stream.hasSentAll
  }

  attach(events: RequestEvents | undefined): void {
    this.#events = events
  }

  detach(): void {
    const events = this.#events
    this.#events = undefined
    events?.onAbort()
  }

  takeBody(): undefined {}

  resumeBody(mayPause = false): void {
    if (this.bodyState === 'complete') return
    if (this.#isAnswering && !mayPause) this.#bodyRate?.start()
    this.#stream.body.resume()
  }

  pauseBody(): void {
    this.#bodyRate?.stop()
    this.#stream.body.pause()
  }

  canPersist(): boolean {
    return true
  }

  closeAfterAnswer(): void {}

  writeInformation(status: number, _reason: string, lines: string): boolean {
    if (status === 100) this.#bodyRate?.onContinue()
    if (this.isHeadSent) return true
    return this.#stream.sendInformation(headWriter(status, lines)) || this.startSendTimeout()
  }

  respond(status: number, _reason: string, lines: string, framing: ResponseFraming): void {
    // Only acceptUpgrade may open a tunnel.
    if (status < 300 && this.head && isExtendedConnect(this, this.head)) {
      this.abort()
      return
    }
    this.framing = this.isHeadMethod ? 'none' : framing
    this.#status = status
    this.#lines = lines
  }

  write(chunk: Buffer): boolean {
    if (this.framing === 'none' || chunk.length === 0) return true
    this.#sendHead(false)
    return this.#stream.write(chunk) || this.startSendTimeout()
  }

  flush(): boolean {
    this.#sendHead(false)
    return true
  }

  end(last = '', trailers = ''): void {
    if (!this.#isAnswering) return
    this.startSendTimeout()
    if (last !== '') this.write(Buffer.from(last, 'latin1'))
    const isWhole = trailers === '' && !this.isHeadSent
    this.#sendHead(isWhole)
    if (!isWhole) this.#stream.end(trailers === '' ? undefined : (encoder) => addLines(encoder, trailers))
  }

  /** Never called: other code only writes to sockets. */
  endOnSocket(): void {}

  acceptUpgrade(_reason: string, lines: string): UpgradedStream {
    this.#bodyRate?.stop()
    this.#events = undefined
    this.deadline = Number.POSITIVE_INFINITY
    this.isHeadSent = true
    if (this.head) this.head = withoutTexts(this.head)
    this.#stream.sendHead(headWriter(200, lines, { isLeftOut: isAcceptOfKey }), false)
    return { stream: new StreamDuplex(this.#stream, () => this.onClose()), firstBytes: undefined }
  }

  abort(): void {
    this.#stream.reset(errorCode.internalError)
  }

  startSendTimeout(): false {
    this.deadline = this.session.options.connections.sweptAt + sendTimeoutMs
    return false
  }

  /** The client has read nothing of its response for too long, or has not ended its body after it. */
  expire(): void {
    this.#stream.reset(this.#lingering === undefined ? errorCode.cancel : errorCode.noError)
  }

  onBodyTooSlow(): void {
    this.#events?.onBodyError(new BodyTooSlow('the body arrives more slowly than limits.bodyRate'))
  }

  onData(chunk: Buffer): void {
    if (this.#lingering !== undefined) {
      const deadline = this.#lingering.discard(chunk.length, this.session.options.connections.sweptAt)
      if (deadline === undefined) this.#stream.reset(errorCode.noError)
      else this.deadline = deadline
    }
    this.#bodyRate?.count(chunk.length)
    this.#events?.onBodyData(chunk)
  }

  isReleased(): boolean {
    return this.#lingering !== undefined || this.#events?.isChunkReleased() === true
  }

  onEnd(trailers: readonly string[]): void {
    this.#bodyRate?.stop()
    this.#events?.onBodyEnd(trailers)
  }

  onDrain(): void {
    if (!this.#isAnswering) return
    this.deadline = Number.POSITIVE_INFINITY
    this.#events?.onClientDrain()
  }

  onEndSent(): void {
    this.#finish(true)
  }

  onClose(): void {
    this.session.onStreamClosed()
    if (!this.#isAnswering) return
    const events = this.#events
    this.#finish(false)
    // Later, as with a socket: aborting an exchange must not call back synchronously.
    if (events) process.nextTick(() => events.onAbort())
  }

  #sendHead(isLast: boolean): void {
    const status = this.#status
    if (status === 0) return
    this.#status = 0
    this.isHeadSent = true
    this.#stream.sendHead(headWriter(status, this.#lines), isLast)
  }

  /** Ends the exchange; whatever the client still sends is not needed. */
  #finish(isComplete: boolean): void {
    if (!this.#isAnswering) return
    this.#isAnswering = false
    this.#bodyRate?.stop()
    this.#events = undefined
    this.session.options.onEnd(this, isComplete)
    this.head = undefined
    if (!isComplete || !this.#stream.discardRest()) return
    // Reading continues: RFC 9113 8.1 allows a reset after the response, but curl and other clients that are still
    // sending would lose the response. The stream still counts as open.
    this.#lingering = new LingeringClose()
    this.deadline = this.#lingering.begin(monotonicClock())
  }
}
