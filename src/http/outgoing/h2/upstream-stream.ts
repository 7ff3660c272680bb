import { bodilessStatuses } from '#platform/http.ts'
import type { MonotonicMs } from '#platform/time.ts'
import type { ResponseFraming } from '../../client-exchange.ts'
import { addLines } from '../../h2/framing/fields.ts'
import type { FrameStream } from '../../h2/framing/frame-stream.ts'
import { errorCode } from '../../h2/framing/protocol.ts'
import type { StreamEvents } from '../../h2/framing/streams.ts'
import { InvalidResponse, readFailure, UpstreamFailure } from '../failure.ts'
import { hasBindingChallenge, readContentLength } from '../response-framing.ts'
import type { ResponseHead } from '../response-head.ts'
import { StallDeadline, stallSweep } from '../stall-deadline.ts'
import {
  noHolder,
  type RequestOptions,
  type UpstreamConnection,
  type UpstreamResponseEvents,
} from '../upstream-connection.ts'
import { checkFields, readHead, requestFields } from './head-fields.ts'
import type { UpstreamSession } from './upstream-session.ts'

/** How many 1xx a target may send for a response that is not being read, as flow control does not apply to them. */
const unreadInformationMax = 64

/** One request to a target over HTTP/2. */
export class UpstreamStream implements UpstreamConnection, StreamEvents {
  readonly isReused: boolean
  readonly mayRefuse = true
  readonly reusableFrom = 0
  readonly reusableUntil = 0
  /** Always false: a session whose target authenticates connections is retired instead. */
  readonly isBound = false
  holder = noHolder
  readonly #deadline = new StallDeadline(() => this.#onTimeout())
  readonly #session: UpstreamSession
  readonly #scheme: 'http' | 'https'
  #stream: FrameStream | undefined
  #events: UpstreamResponseEvents | undefined
  #options: RequestOptions | undefined
  #isFreed = false
  #unreadInformation = 0
  /** Whether the memory of the last read is released. */
  #isReleased = true

  /** @param session has counted this stream already (addStream) */
  constructor(session: UpstreamSession, scheme: 'http' | 'https', isReused: boolean) {
    this.#session = session
    this.#scheme = scheme
    this.isReused = isReused
  }

  get isOpen(): boolean {
    return this.#session.isOpen
  }

  get pausedAt(): MonotonicMs {
    return this.#deadline.pausedAt
  }

  get hasWrittenAll(): boolean {
    return this.#stream?.hasSentAll !== false
  }

  start(head: string, options: RequestOptions, events: UpstreamResponseEvents, now: MonotonicMs): void {
    this.#events = events
    this.#options = options
    if (!this.isOpen) {
      process.nextTick(() => this.fail(unsent))
      return
    }
    const stream = this.#session.open()
    this.#stream = stream
    stream.events = this
    stream.sendHead(requestFields(head, this.#scheme), options.body === 'none')
    stream.body.resume()
    stallSweep.add(this.#deadline)
    this.#deadline.start(options, now)
  }

  redirect(events: UpstreamResponseEvents): void {
    if (this.#events !== undefined) this.#events = events
  }

  write(chunk: Buffer): boolean {
    this.#deadline.onRequestData()
    // A closed stream reports that itself.
    return this.#stream?.write(chunk) !== false
  }

  finish(trailers: string): void {
    this.#stream?.end(trailers === '' ? undefined : (encoder) => addLines(encoder, trailers))
    this.#deadline.onRequestEnd()
  }

  pause(): void {
    this.#deadline.pause()
    this.#stream?.body.pause()
  }

  resume(): void {
    if (!this.#deadline.isPaused) return
    this.#deadline.resume()
    this.#stream?.body.resume()
  }

  destroy(): void {
    this.#events = undefined
    this.#deadline.stop()
    if (this.#stream === undefined) this.#free()
    else this.#reset(this.#stream, errorCode.cancel)
  }

  #reset(stream: FrameStream, code: number): void {
    if (!stream.isClosed) this.#session.onReset()
    stream.reset(code)
  }

  #onTimeout(): void {
    const failure = this.#deadline.failure(this.hasWrittenAll)
    if (failure.reason !== 'body-stalled') this.#session.checkAlive()
    this.fail(failure)
  }

  onHead(fields: string[], isWhole: boolean, isLast: boolean): void {
    try {
      if (!isWhole) throw new InvalidResponse('a head larger than 64 KiB')
      const head = readHead(fields)
      if (head.status >= 200) this.#onResponse(head, isLast)
      else if (isLast) throw new InvalidResponse('a 1xx that ends the response')
      else this.#onInformation(head)
    } catch (error) {
      this.fail(readFailure(error))
    }
  }

  #onInformation(head: ResponseHead): void {
    if (this.#deadline.isPaused && ++this.#unreadInformation > unreadInformationMax)
      throw new InvalidResponse('more 1xx responses than the client reads')
    this.#deadline.onInformation(head.status)
    this.#events?.onInformation(head)
  }

  #onResponse(head: ResponseHead, isLast: boolean): void {
    this.#deadline.onHead()
    this.#deadline.postpone()
    const framing = this.#readFraming(head)
    if (this.#stream) this.#stream.awaitsHead = false
    this.#events?.onHead(head, framing)
    // Flushes the head, as its body may be long in coming, and the client may wait for it before it sends the rest of
    // its request. But only once everything that arrived with it is read: a stream that fails in the same read gets
    // another response.
    if (!isLast) process.nextTick(() => this.#flushHead())
  }

  /** How the end of this response would be framed in HTTP/1.1. */
  #readFraming({ status, headers }: ResponseHead): ResponseFraming {
    if (hasBindingChallenge(headers)) this.#session.retire()
    if (this.#options?.method === 'HEAD' || bodilessStatuses.has(status)) return 'none'
    const contentLength = readContentLength(headers)
    if (this.#stream) this.#stream.body.expectedBytes = contentLength
    if (contentLength !== undefined) return 'counted'
    return 'chunked'
  }

  onData(chunk: Buffer): void {
    this.#deadline.postpone()
    this.#isReleased = false
    try {
      this.#events?.onData(chunk)
      this.#isReleased = this.#events?.onRead() !== false
    } catch (error) {
      this.fail(readFailure(error))
    }
  }

  #flushHead(): void {
    try {
      this.#events?.onRead()
    } catch (error) {
      this.fail(readFailure(error))
    }
  }

  isReleased(): boolean {
    return this.#isReleased
  }

  onEnd(trailers: readonly string[]): void {
    const events = this.#events
    try {
      checkFields(trailers)
    } catch (error) {
      this.fail(readFailure(error))
      return
    }
    this.#events = undefined
    this.#deadline.stop()
    // The target has answered without the rest of the body (RFC 9113 8.1).
    if (this.#stream?.hasSentEnd === false) this.#reset(this.#stream, errorCode.noError)
    try {
      events?.onEnd(trailers)
    } catch (error) {
      events?.onFailure(readFailure(error))
    }
  }

  onDrain(): void {
    this.#events?.onDrain()
  }

  onClose(code: number): void {
    stallSweep.remove(this.#deadline)
    if (this.#events) this.fail(failureOf(code))
    this.#free()
  }

  #free(): void {
    if (this.#isFreed) return
    this.#isFreed = true
    this.#session.removeStream()
    this.holder.onFree(false)
  }

  fail(failure: UpstreamFailure): void {
    const events = this.#events
    this.destroy()
    events?.onFailure(failure)
  }
}

/** The codes that either side sends to a peer that violates RFC 9113. */
const brokenProtocol = new Set<number>([
  errorCode.protocolError,
  errorCode.flowControlError,
  errorCode.frameSizeError,
  errorCode.compressionError,
  errorCode.streamClosed,
])

const unsent = new UpstreamFailure('not-processed', 'the connection to the target was closed before')

function failureOf(code: number): UpstreamFailure {
  if (code === errorCode.refusedStream)
    return new UpstreamFailure('not-processed', 'the target refused the stream')
  if (brokenProtocol.has(code))
    return new UpstreamFailure('invalid-response', 'the target broke the protocol')
  return new UpstreamFailure('closed-early', `the target ended the stream (code ${code})`)
}
