import { type ClientHttp2Stream, constants } from 'node:http2'
import type { ResponseFraming } from '../../exchange/client-exchange.ts'
import { DeadlineSweep, type Expiring } from '../../http1/deadline-sweep.ts'
import { ownedCopy } from '../../http1/read-buffers.ts'
import type { ExchangeEvents, RequestOptions } from '../exchange.ts'
import { timeoutFailure, UpstreamFailure } from '../failure.ts'
import { readResponseFraming } from '../response-framing.ts'
import type { UpstreamConnection } from '../upstream-connection.ts'
import { requestFields, trailerFields } from './request-fields.ts'
import type { UpstreamSession } from './session.ts'

const sweep = new DeadlineSweep(50)
const never = Number.POSITIVE_INFINITY
const noTrailers: readonly string[] = []
/** Statuses without a body, whatever their fields say (RFC 9110 6.4.1). */
const bodiless = new Set([204, 304])

/** One request to a target over HTTP/2. */
export class UpstreamStream implements UpstreamConnection, Expiring {
  readonly isReused: boolean
  readonly mayRefuse = true
  readonly reusableFrom = 0
  readonly reusableUntil = 0
  /** node:http2 keeps what is written until its connection has sent it. */
  readonly hasWrittenAll = false
  onFree: (isReusable: boolean) => void = () => {}
  deadline = never
  readonly #session: UpstreamSession
  readonly #scheme: 'http' | 'https'
  #stream: ClientHttp2Stream | undefined
  #events: ExchangeEvents | undefined
  #options: RequestOptions | undefined
  #isRequestSent = false
  #isHeadReceived = false
  #isDeadlineForHead = false
  #isPaused = false
  #isFreed = false
  #trailers = noTrailers
  #trailerLines = ''

  /** @param session counts it already */
  constructor(session: UpstreamSession, scheme: 'http' | 'https', isReused: boolean) {
    this.#session = session
    this.#scheme = scheme
    this.isReused = isReused
  }

  get isOpen(): boolean {
    return this.#session.isOpen
  }

  start(head: string, options: RequestOptions, events: ExchangeEvents, now: number): void {
    this.#events = events
    this.#options = options
    this.#isRequestSent = options.body === 'none'
    if (!this.isOpen) {
      process.nextTick(() => this.#fail(unsent))
      return
    }
    const stream = this.#session.http2.request(requestFields(head, this.#scheme), {
      endStream: options.body === 'none',
      waitForTrailers: options.body === 'chunked',
    })
    this.#stream = stream
    stream.on('headers', this.#onInformation).on('response', this.#onResponse)
    stream.on('trailers', this.#onTrailers).on('data', this.#onData).on('end', this.#onEnd)
    stream.on('drain', this.#onDrain).on('error', this.#onError).on('close', this.#onClose)
    stream.once('wantTrailers', () => stream.sendTrailers(trailerFields(this.#trailerLines)))
    sweep.add(this)
    this.#armDeadline(now)
  }

  write(chunk: Buffer): boolean {
    this.#armDeadline()
    const stream = this.#stream
    // What is written is kept until it is sent; a stream that is gone reports that itself.
    return stream === undefined || stream.destroyed || stream.write(ownedCopy(chunk))
  }

  finish(trailers: string): void {
    this.#trailerLines = trailers
    this.#isRequestSent = true
    this.#stream?.end()
    this.#armDeadline()
  }

  pause(): void {
    this.#isPaused = true
    this.#armDeadline()
    this.#stream?.pause()
  }

  resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#armDeadline()
    this.#stream?.resume()
  }

  destroy(): void {
    this.#events = undefined
    this.deadline = never
    if (this.#stream === undefined) this.#free()
    else this.#stream.close(constants.NGHTTP2_CANCEL)
  }

  expire(): void {
    const isClientIdle = !this.#isRequestSent && this.#stream?.writableNeedDrain !== true
    if (this.#isDeadlineForHead || !isClientIdle) this.#session.checkAlive()
    this.#fail(timeoutFailure(this.#isDeadlineForHead ? 'response' : isClientIdle ? 'client' : 'target'))
  }

  readonly #onInformation = (_fields: object, _flags: number, raw: readonly string[]): void => {
    this.#events?.onInformation({ status: statusOf(raw), reason: '', headers: withoutStatus(raw) })
  }

  readonly #onResponse = (_fields: object, _flags: number, raw: readonly string[]): void => {
    this.#isHeadReceived = true
    const status = statusOf(raw)
    const headers = withoutStatus(raw)
    try {
      this.#events?.onHead({ status, reason: '', headers }, this.#framingOf(status, headers))
      this.#armDeadline()
    } catch (error) {
      this.#fail(
        error instanceof UpstreamFailure
          ? error
          : new UpstreamFailure('invalid-response', 'reading the response failed', error),
      )
    }
  }

  /** What HTTP/1.1 would need to end the response where this one ends. */
  #framingOf(status: number, headers: readonly string[]): ResponseFraming {
    if (this.#options?.method === 'HEAD' || bodiless.has(status)) return 'none'
    const { contentLength } = readResponseFraming(headers, false)
    if (contentLength !== undefined) return 'counted'
    return 'chunked'
  }

  readonly #onTrailers = (_fields: object, _flags: number, raw: readonly string[]): void => {
    this.#trailers = raw
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#armDeadline()
    this.#events?.onData(chunk)
    this.#events?.onRead()
  }

  readonly #onEnd = (): void => {
    // Without a head there is no response: the close of the stream says why.
    if (!this.#isHeadReceived) return
    const events = this.#events
    const stream = this.#stream
    if (stream === undefined || (stream.rstCode ?? 0) !== constants.NGHTTP2_NO_ERROR) return
    this.#events = undefined
    this.deadline = never
    // The target has answered without the rest of the body (RFC 9113 8.1).
    if (!this.#isRequestSent) stream.close(constants.NGHTTP2_NO_ERROR)
    events?.onEnd(this.#trailers)
  }

  readonly #onDrain = (): void => this.#events?.onDrain()

  readonly #onError = (error: Error): void => this.#fail(this.#failureOf(error))

  readonly #onClose = (): void => {
    sweep.remove(this)
    this.#fail(this.#failureOf(undefined))
    this.#free()
  }

  #free(): void {
    if (this.#isFreed) return
    this.#isFreed = true
    this.#session.removeStream()
    this.onFree(false)
  }

  #failureOf(cause: unknown): UpstreamFailure {
    const { rstCode, id = 0 } = this.#stream ?? {}
    // node:http2 gives these the code of the GOAWAY, if it has one.
    const isAboveLast = id > this.#session.lastStreamId
    return failureOf(isAboveLast ? constants.NGHTTP2_REFUSED_STREAM : rstCode, cause)
  }

  #fail(failure: UpstreamFailure): void {
    const events = this.#events
    this.destroy()
    events?.onFailure(failure)
  }

  /** Starts the idle timeout within bodies, or the response timeout until the head. */
  #armDeadline(now = performance.now()): void {
    const options = this.#options
    if (!options || !this.#events) return
    const isWaiting = this.#isRequestSent && !this.#isHeadReceived
    // The whole head must arrive in time: a 1xx does not extend the deadline.
    if (isWaiting && this.#isDeadlineForHead) return
    this.#isDeadlineForHead = isWaiting
    const timeoutMs = isWaiting ? options.responseTimeoutMs : options.idleTimeoutMs
    this.deadline = this.#isPaused ? never : now + timeoutMs
  }
}

const unsent = new UpstreamFailure('not-processed', 'the connection to the target was closed before')

function failureOf(code: number | undefined, cause: unknown): UpstreamFailure {
  switch (code) {
    case constants.NGHTTP2_REFUSED_STREAM:
      return new UpstreamFailure('not-processed', 'the target refused the stream', cause)
    case constants.NGHTTP2_PROTOCOL_ERROR:
      return new UpstreamFailure('invalid-response', 'the target broke the protocol', cause)
    default:
      return new UpstreamFailure(
        'closed-early',
        `the target ended the stream (code ${code ?? 'unknown'})`,
        cause,
      )
  }
}

function statusOf(raw: readonly string[]): number {
  return Number(raw[raw.indexOf(':status') + 1])
}

function withoutStatus(raw: readonly string[]): readonly string[] {
  return raw[0] === ':status' ? raw.slice(2) : raw.toSpliced(raw.indexOf(':status'), 2)
}
