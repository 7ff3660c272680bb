import { constants, type ServerHttp2Stream } from 'node:http2'
import type { BodyState, ClientExchange, ResponseFraming, Transport } from '../exchange/client-exchange.ts'
import { BodyTooSlow } from '../exchange/malformed-message.ts'
import type { RequestEvents } from '../exchange/request-events.ts'
import type { RequestHead } from '../exchange/request-head.ts'
import { BodyRate } from '../http1/body-rate.ts'
import type { Expiring } from '../http1/deadline-sweep.ts'
import { ownedCopy } from '../http1/read-buffers.ts'
import { smallChunkBytesMax } from '../http1/response-writer.ts'
import { sendTimeoutMs } from '../http1/timeouts.ts'
import { JoinedChunks } from './joined-chunks.ts'
import { responseFields, trailerFields, withoutAccept } from './response-fields.ts'
import type { Peer, StreamOptions } from './stream-options.ts'

/** The client's side of an exchange in HTTP/2: one stream. */
export class ClientStream implements ClientExchange, Expiring {
  readonly httpVersion = '2'
  readonly peerAddress: string
  readonly protocol: 'http' | 'https'
  head: RequestHead | undefined
  deadline = Number.POSITIVE_INFINITY
  readonly #stream: ServerHttp2Stream
  readonly #options: StreamOptions
  #events: RequestEvents | undefined
  #bodyRate: BodyRate | undefined
  #isBodyComplete = true
  #isBodyRead = false
  #hasBegun = false
  #isAnswering = true
  #framing: ResponseFraming = 'none'
  #fields: string[] | undefined
  readonly #buffered = new JoinedChunks()
  #trailerLines = ''
  #awaitsTrailers = false

  constructor(stream: ServerHttp2Stream, { peerAddress, protocol }: Peer, options: StreamOptions) {
    this.#stream = stream
    this.#options = options
    this.peerAddress = peerAddress
    this.protocol = protocol
    // What went wrong shows when it closes.
    stream.on('error', ignore).on('close', this.#onClose)
    options.sweep.add(this)
  }

  /** Starts the exchange. */
  begin(head: RequestHead): void {
    this.head = head
    if (head.body.kind !== 'none') {
      this.#isBodyComplete = false
      this.#bodyRate = new BodyRate(this.#options, this)
      this.#bodyRate.begin(head.expectsContinue)
    }
    this.#options.onRequest(this, head)
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
    else {
      this.#isBodyRead = true
      this.#stream.on('trailers', this.#onTrailers).on('data', this.#onData).on('end', this.#onEnd)
    }
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
    this.#fields = responseFields(status, lines)
  }

  write(chunk: Buffer): boolean {
    if (this.#framing === 'none' || chunk.length === 0) return true
    this.#buffered.add(ownedCopy(chunk))
    return this.#buffered.bytes <= smallChunkBytesMax || this.flush()
  }

  flush(): boolean {
    this.#sendHead(false)
    const data = this.#buffered.take()
    if (data === undefined || this.#stream.destroyed) return true
    return this.#stream.write(data) || this.startSendTimeout()
  }

  end(last = ''): void {
    this.startSendTimeout()
    if (this.#framing === 'chunked') this.#trailerLines = last
    else if (this.#framing === 'counted' && last !== '') this.#buffered.add(Buffer.from(last, 'latin1'))
    const data = this.#buffered.take()
    this.#sendHead(data === undefined && this.#trailerLines === '')
    // node:http2 ends a response that can have no body by itself.
    if (this.#stream.writableEnded) this.#onAnswered()
    else this.#stream.end(data, this.#onAnswered)
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
    this.deadline = this.#options.sweep.sweptAt + sendTimeoutMs
    return false
  }

  /** The client has read nothing of its response for too long. */
  expire(): void {
    this.#stream.close(constants.NGHTTP2_CANCEL)
  }

  /** @param endStream whether the response is complete with its head */
  #sendHead(endStream: boolean): void {
    const fields = this.#fields
    if (fields === undefined) return
    this.#fields = undefined
    this.#hasBegun = true
    if (this.#stream.destroyed) return
    // Whether there will be trailers is not known yet.
    const waitForTrailers = !endStream && this.#framing === 'chunked'
    this.#awaitsTrailers = waitForTrailers
    if (waitForTrailers) this.#stream.once('wantTrailers', this.#onWantTrailers)
    if (!endStream) this.#stream.on('drain', this.#onDrain)
    this.#stream.respond(fields, { endStream, waitForTrailers })
  }

  readonly #onWantTrailers = (): void => {
    if (this.#stream.closed) return
    this.#stream.sendTrailers(trailerFields(this.#trailerLines))
    this.#awaitsTrailers = false
    if (!this.#isAnswering) this.#dropRest()
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#bodyRate?.count(chunk.length)
    this.#events?.onBodyData(chunk)
  }

  readonly #onTrailers = (_fields: object, _flags: number, raw: readonly string[]): void => {
    this.#trailers = raw
  }

  #trailers: readonly string[] = []

  readonly #onEnd = (): void => {
    this.#isBodyComplete = true
    this.#bodyRate?.stop()
    if (this.#isAnswering) this.#events?.onBodyEnd(this.#trailers)
  }

  readonly #onDrain = (): void => {
    if (!this.#isAnswering) return
    this.deadline = Number.POSITIVE_INFINITY
    this.#events?.onClientDrain()
  }

  readonly #onAnswered = (error?: Error | null): void => {
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

  readonly #onClose = (): void => {
    this.#options.sweep.remove(this)
    if (!this.#isAnswering) return
    const events = this.#events
    this.#finish(false)
    events?.onAbort()
  }

  #finish(isComplete: boolean): void {
    this.#isAnswering = false
    this.#bodyRate?.stop()
    this.#events = undefined
    this.#options.onEnd(this, isComplete)
    this.head = undefined
  }
}

function ignore(): void {}
