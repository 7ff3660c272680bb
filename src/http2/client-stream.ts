import { constants, type ServerHttp2Stream, type ServerStreamResponseOptions } from 'node:http2'
import type { BodyState, ClientExchange, ResponseFraming, Transport } from '../exchange/client-exchange.ts'
import { BodyTooSlow } from '../exchange/malformed-message.ts'
import type { RequestEvents } from '../exchange/request-events.ts'
import type { RequestHead } from '../exchange/request-head.ts'
import { BodyRate } from '../http1/body-rate.ts'
import { ownedCopy } from '../http1/read-buffers.ts'
import { smallChunkBytesMax } from '../http1/response-writer.ts'
import { sendTimeoutMs } from '../http1/timeouts.ts'
import { isAllSent } from './all-sent.ts'
import { JoinedChunks } from './joined-chunks.ts'
import { responseFields, trailerFields, withoutAccept } from './response-fields.ts'
import type { Peer, StreamOptions } from './stream-options.ts'

/** The connection that a stream belongs to. */
export interface StreamOwner {
  readonly peer: Peer
  readonly options: StreamOptions
  onStreamClosed(stream: ClientStream): void
}

const withoutBody: ServerStreamResponseOptions = { endStream: true }
const withTrailers: ServerStreamResponseOptions = { waitForTrailers: true }

/**
 * The client's side of an exchange in HTTP/2: one stream. Each listener that a stream gets costs as much as reading a
 * field, so that most are added only where they are needed.
 */
export class ClientStream implements ClientExchange {
  readonly httpVersion = '2'
  head: RequestHead | undefined
  listenerState: object | undefined
  /** On the clock of performance.now(): its connection looks at it in each sweep. */
  deadline = Number.POSITIVE_INFINITY
  readonly #stream: ServerHttp2Stream
  readonly #owner: StreamOwner
  readonly #buffered = new JoinedChunks()
  #events: RequestEvents | undefined
  #bodyRate: BodyRate | undefined
  #isBodyComplete = true
  #isBodyRead = false
  #hasBegun = false
  #isAnswering = true
  /** Whether all of the response was written: nothing may follow. */
  #isEnded = false
  #framing: ResponseFraming = 'none'
  /** The head of the response until it is sent; 0 = there is none. */
  #status = 0
  #lines = ''
  #trailers: readonly string[] = noTrailers
  #trailerLines = ''
  #awaitsTrailers = false
  #awaitsDrain = false

  constructor(stream: ServerHttp2Stream, owner: StreamOwner) {
    this.#stream = stream
    this.#owner = owner
    // What went wrong shows when it closes.
    stream.on('error', ignore)
    stream.on('close', () => this.#onClose())
  }

  /** Starts the exchange. */
  begin(head: RequestHead): void {
    this.head = head
    const { options } = this.#owner
    if (head.body.kind !== 'none') {
      this.#isBodyComplete = false
      this.#bodyRate = new BodyRate(options, this)
      this.#bodyRate.begin(head.expectsContinue)
    }
    options.onRequest(this, head)
  }

  get peerAddress(): string {
    return this.#owner.peer.peerAddress
  }

  get protocol(): 'http' | 'https' {
    return this.#owner.peer.protocol
  }

  get bodyState(): BodyState {
    return this.#isBodyComplete ? 'complete' : 'pending'
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
    this.#events = events
  }

  detach(): void {
    const events = this.#events
    this.#events = undefined
    events?.onAbort()
  }

  resumeBody(): void {
    if (this.#isBodyComplete) return
    if (this.#isAnswering) this.#bodyRate?.start()
    if (this.#isBodyRead) this.#stream.resume()
    else this.#readBody()
  }

  pauseBody(): void {
    this.#bodyRate?.stop()
    this.#stream.pause()
  }

  onBodyTooSlow(): void {
    this.#events?.onBodyError(new BodyTooSlow('the body arrives more slowly than limits.bodyRate'))
  }

  canPersist(): boolean {
    return true
  }

  closeAfterAnswer(): void {}

  writeInformation(status: number, _reason: string, lines: string): boolean {
    if (status === 100) this.#bodyRate?.onContinue()
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
    return this.#buffered.bytes <= smallChunkBytesMax || this.flush()
  }

  flush(): boolean {
    // Whether there will be trailers is not known yet.
    if (this.#status !== 0) this.#sendHead(this.#framing === 'chunked' ? withTrailers : undefined)
    const data = this.#buffered.take()
    if (data === undefined || this.#stream.destroyed || this.#stream.write(data)) return true
    if (!this.#awaitsDrain) this.#stream.once('drain', this.#onDrain)
    this.#awaitsDrain = true
    return this.startSendTimeout()
  }

  end(last = ''): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.startSendTimeout()
    if (this.#framing === 'chunked') this.#trailerLines = last
    else if (this.#framing === 'counted' && last !== '') this.#buffered.add(Buffer.from(last, 'latin1'))
    const data = this.#buffered.take()
    if (this.#status !== 0)
      this.#sendHead(this.#trailerLines !== '' ? withTrailers : data === undefined ? withoutBody : undefined)
    // node:http2 ends a response that can have no body by itself.
    const isEnded = this.#stream.writableEnded
    // The stream closes by itself once all is sent, if all of the request has arrived.
    if (this.#closesItself()) {
      if (!isEnded) this.#stream.end(data)
    } else if (isEnded) this.#onAnswered()
    else this.#stream.end(data, (error?: Error | null) => this.#onAnswered(error))
  }

  endExternally(): void {
    this.#hasBegun = true
    this.#onAnswered()
  }

  acceptUpgrade(_reason: string, lines: string): undefined {
    this.#bodyRate?.stop()
    this.#events = undefined
    this.#hasBegun = true
    this.#stream.respond(withoutAccept(responseFields(200, lines)))
  }

  /**
   * node:http2 ends what was written before it resets a stream. No client takes it for complete: a counted body is too
   * short, and one of unknown length has no END_STREAM, as trailers may follow.
   */
  abort(): void {
    this.#stream.close(constants.NGHTTP2_INTERNAL_ERROR)
  }

  startSendTimeout(): false {
    this.deadline = this.#owner.options.sweep.sweptAt + sendTimeoutMs
    return false
  }

  /** The client has read nothing of its response for too long. */
  expire(): void {
    this.#stream.close(constants.NGHTTP2_CANCEL)
  }

  #closesItself(): boolean {
    return this.#isBodyComplete && this.head?.upgrade === undefined
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

  #readBody(): void {
    const stream = this.#stream
    this.#isBodyRead = true
    stream.on('trailers', (_fields: object, _flags: number, raw: readonly string[]) => {
      this.#trailers = raw
    })
    stream.on('data', (chunk: Buffer) => {
      this.#bodyRate?.count(chunk.length)
      this.#events?.onBodyData(chunk)
    })
    stream.on('end', () => {
      this.#isBodyComplete = true
      this.#bodyRate?.stop()
      if (this.#isAnswering) this.#events?.onBodyEnd(this.#trailers)
    })
  }

  readonly #onDrain = (): void => {
    this.#awaitsDrain = false
    if (!this.#isAnswering) return
    this.deadline = Number.POSITIVE_INFINITY
    this.#events?.onClientDrain()
  }

  #onAnswered(error?: Error | null): void {
    if (error || !this.#isAnswering) return
    const isTunnel = this.head?.upgrade !== undefined
    this.#finish(true)
    if (isTunnel) this.#isBodyComplete = false
    if (!this.#awaitsTrailers) this.#dropRest()
  }

  /** The rest of the request is not needed (RFC 9113 8.1). Later, as a reset overtakes what is not written yet. */
  #dropRest(): void {
    if (!this.#isBodyComplete) setImmediate(() => this.#stream.close(constants.NGHTTP2_NO_ERROR))
  }

  #onClose(): void {
    this.#owner.onStreamClosed(this)
    if (!this.#isAnswering) return
    const events = this.#events
    const isComplete = this.#isEnded && isAllSent(this.#stream)
    this.#finish(isComplete)
    if (!isComplete) events?.onAbort()
  }

  #finish(isComplete: boolean): void {
    this.#isAnswering = false
    this.#bodyRate?.stop()
    this.#events = undefined
    this.#owner.options.onEnd(this, isComplete)
    this.head = undefined
  }
}

const noTrailers: readonly string[] = []

function ignore(): void {}
