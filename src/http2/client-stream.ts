import { constants, type ServerHttp2Stream, type ServerStreamResponseOptions } from 'node:http2'
import type { BodyState, ClientExchange, ResponseFraming, Transport } from '../exchange/client-exchange.ts'
import type { RequestEvents } from '../exchange/request-events.ts'
import type { RequestHead } from '../exchange/request-head.ts'
import type { Expiring } from '../http1/deadline-sweep.ts'
import { ownedCopy } from '../http1/read-buffers.ts'
import { sendTimeoutMs } from '../http1/timeouts.ts'
import { isAllSent } from './all-sent.ts'
import { JoinedChunks } from './joined-chunks.ts'
import { responseFields, trailerFields, withoutAccept } from './response-fields.ts'
import { type BodyReceiver, StreamBody } from './stream-body.ts'
import type { StreamOptions, StreamOwner } from './stream-options.ts'
import { writeChunk } from './write-chunk.ts'

const withoutBody: ServerStreamResponseOptions = { endStream: true }
const withTrailers: ServerStreamResponseOptions = { waitForTrailers: true }
/** The client's side of an exchange in HTTP/2: one stream. It gets few listeners: each costs as much as reading a field. */
export class ClientStream implements ClientExchange, BodyReceiver, Expiring {
  readonly httpVersion = '2'
  head: RequestHead | undefined
  listenerState: object | undefined
  /** On the clock of performance.now(): its connection looks at it in each sweep. */
  deadline = Number.POSITIVE_INFINITY
  readonly #stream: ServerHttp2Stream
  readonly #owner: StreamOwner
  readonly #buffered = new JoinedChunks()
  events: RequestEvents | undefined
  /** undefined = the request has none. */
  #body: StreamBody | undefined
  #isTunnel = false
  #hasBegun = false
  #isAnswering = true
  /** Whether all of the response was written: nothing may follow. */
  #isEnded = false
  #framing: ResponseFraming = 'none'
  /** The head of the response until it is sent; 0 = there is none. */
  #status = 0
  #lines = ''
  #trailerLines = ''
  #awaitsTrailers = false
  #awaitsDrain = false

  constructor(stream: ServerHttp2Stream, owner: StreamOwner) {
    this.#stream = stream
    this.#owner = owner
    // What went wrong shows when it closes.
    stream.on('error', ignore).on('close', () => this.#onClose())
  }

  /** Starts the exchange. */
  begin(head: RequestHead): void {
    this.head = head
    this.#isTunnel = head.upgrade !== undefined
    if (head.body.kind !== 'none') this.#body = new StreamBody(this.#stream, this, head.expectsContinue)
    this.options.onRequest(this, head)
  }

  get options(): StreamOptions {
    return this.#owner.options
  }

  get peerAddress(): string {
    return this.#owner.peer.peerAddress
  }

  get protocol(): 'http' | 'https' {
    return this.#owner.peer.protocol
  }

  get bodyState(): BodyState {
    return this.#body?.isComplete === false ? 'pending' : 'complete'
  }

  get isHeadSent(): boolean {
    return this.#hasBegun
  }

  /** Never as far as a caller may rely on it: node:http2 keeps what is written until its connection has sent it. */
  get hasWrittenAll(): boolean {
    return false
  }

  get transport(): Transport {
    return { version: 2, stream: this.#stream }
  }

  attach(events: RequestEvents | undefined): void {
    this.events = events
  }

  detach(): void {
    const events = this.events
    this.events = undefined
    events?.onAbort()
  }

  resumeBody(): void {
    this.#body?.resume(this.#isAnswering)
  }

  pauseBody(): void {
    this.#body?.pause()
  }

  canPersist(): boolean {
    return true
  }

  closeAfterAnswer(): void {}

  writeInformation(status: number, _reason: string, lines: string): boolean {
    if (status === 100) this.#body?.onContinue()
    if (this.#stream.destroyed || this.#stream.headersSent) return true
    this.#stream.additionalHeaders(Object.assign({ ':status': status }, trailerFields(lines)))
    return true
  }

  respond(status: number, _reason: string, lines: string, framing: ResponseFraming): void {
    this.#framing = framing
    this.#status = status
    this.#lines = lines
  }

  write(chunk: Buffer): boolean {
    if (this.#framing === 'none' || chunk.length === 0) return true
    this.#buffered.add(ownedCopy(chunk))
    return this.#buffered.isSmall || this.flush()
  }

  flush(): boolean {
    // Whether there will be trailers is not known yet.
    if (this.#status !== 0) this.#sendHead(this.#framing === 'chunked' ? withTrailers : undefined)
    const data = this.#buffered.take()
    if (data === undefined || this.#stream.destroyed || writeChunk(this.#stream, data)) return true
    if (!this.#awaitsDrain) this.#stream.once('drain', this.#onDrain)
    this.#awaitsDrain = true
    return this.startSendTimeout()
  }

  end(last = ''): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.startSendTimeout()
    if (!this.#owner.drain?.hold(() => this.#writeEnd(last))) this.#writeEnd(last)
  }

  #writeEnd(last: string): void {
    if (this.#framing === 'chunked') this.#trailerLines = last
    else if (this.#framing === 'counted' && last !== '') this.#buffered.add(Buffer.from(last, 'latin1'))
    const data = this.#buffered.take()
    if (this.#status !== 0)
      this.#sendHead(this.#trailerLines !== '' ? withTrailers : data === undefined ? withoutBody : undefined)
    // node:http2 ends a response that can have no body by itself.
    const isEnded = this.#stream.writableEnded
    // The stream closes by itself once all is sent, if all of the request has arrived.
    if (!this.#hasRest()) {
      if (!isEnded) this.#stream.end(data)
    } else if (isEnded) this.#onAnswered()
    else this.#stream.end(data, (error?: Error | null) => this.#onAnswered(error))
  }

  endExternally(): void {
    this.#hasBegun = true
    this.#onAnswered()
  }

  acceptUpgrade(_reason: string, lines: string): undefined {
    this.#body?.stopWatching()
    this.events = undefined
    this.#hasBegun = true
    this.#stream.respond(withoutAccept(responseFields(200, lines)))
  }

  // node:http2 ends what was written before it resets a stream. No client takes it for complete: a counted body is too
  // short, and one of unknown length has no END_STREAM, as trailers may follow.
  abort(): void {
    this.#stream.close(constants.NGHTTP2_INTERNAL_ERROR)
  }

  startSendTimeout(): false {
    this.deadline = this.options.sweep.sweptAt + sendTimeoutMs
    return false
  }

  /** The client has read nothing of its response for too long. */
  expire(): void {
    this.#stream.close(constants.NGHTTP2_CANCEL)
  }

  /** Whether there may be more to come from the client. */
  #hasRest(): boolean {
    return this.#isTunnel || this.bodyState === 'pending'
  }

  #sendHead(options: ServerStreamResponseOptions | undefined): void {
    const status = this.#status
    this.#status = 0
    this.#hasBegun = true
    if (this.#stream.destroyed) return
    if (options === withTrailers) {
      this.#awaitsTrailers = true
      this.#stream.once('wantTrailers', () => this.#onWantTrailers())
    }
    this.#stream.respond(responseFields(status, this.#lines), options)
  }

  #onWantTrailers(): void {
    if (this.#stream.closed) return
    this.#stream.sendTrailers(trailerFields(this.#trailerLines))
    this.#awaitsTrailers = false
    if (!this.#isAnswering) this.#dropRest()
  }

  readonly #onDrain = (): void => {
    this.#awaitsDrain = false
    if (!this.#isAnswering) return
    this.deadline = Number.POSITIVE_INFINITY
    this.events?.onClientDrain()
  }

  #onAnswered(error?: Error | null): void {
    if (error || !this.#isAnswering) return
    this.#finish(true)
    if (!this.#awaitsTrailers) this.#dropRest()
  }

  /** The rest of the request is not needed (RFC 9113 8.1). Later, as a reset overtakes what is not written yet. */
  #dropRest(): void {
    if (this.#hasRest()) setImmediate(() => this.#stream.close(constants.NGHTTP2_NO_ERROR))
  }

  #onClose(): void {
    this.#owner.onStreamClosed(this)
    if (!this.#isAnswering) return
    const events = this.events
    const isComplete = this.#isEnded && isAllSent(this.#stream)
    this.#finish(isComplete)
    if (!isComplete) events?.onAbort()
  }

  #finish(isComplete: boolean): void {
    this.#isAnswering = false
    this.#body?.stopWatching()
    this.events = undefined
    this.options.onEnd(this, isComplete)
    this.head = undefined
  }
}

function ignore(): void {}
