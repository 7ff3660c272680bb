import { type ClientHttp2Session, connect } from 'node:http2'
import type { Socket } from 'node:net'
import { UpstreamFailure } from '../failure.ts'

/** How many requests are sent on one connection, if the target allows as many. */
export const streamsMax = 100
const streamWindowBytes = 262_144
const connectionWindowBytes = 4_194_304
/** A connection without requests is closed after this long. */
const idleMs = 60_000

export interface SessionOptions {
  /** Of the target. */
  readonly origin: string
  /** How long the target may take to say that it speaks HTTP/2 and takes requests. */
  readonly timeoutMs: number
  /** How long it may take to answer a PING. */
  readonly pingTimeoutMs: number
}

/** One of the first two is called, once, unless the session is destroyed before. */
export interface SessionEvents {
  /** The target takes requests. */
  onReady(): void
  onFailure(failure: UpstreamFailure): void
  /** A request has ended, or the target allows another number of them. */
  onCapacity(): void
  /** It takes no more requests; those that it has are completed. */
  onEnding(): void
}

/** One connection of HTTP/2 to a target. It takes requests once the target has told how many (RFC 9113 6.5.2). */
export class UpstreamSession {
  readonly http2: ClientHttp2Session
  /** Streams above it were not processed by the target (RFC 9113 6.8). */
  lastStreamId = Number.POSITIVE_INFINITY
  /** Whether it has carried a request. */
  hasServed = false
  readonly #events: SessionEvents
  readonly #timer: NodeJS.Timeout
  readonly #pingTimeoutMs: number
  #pingTimer: NodeJS.Timeout | undefined
  #streams = 0
  /** How many requests the target allows at a time; 0 = not said yet. */
  #streamsMax = 0
  #isReady = false

  constructor(socket: Socket, { origin, timeoutMs, pingTimeoutMs }: SessionOptions, events: SessionEvents) {
    this.#events = events
    this.#pingTimeoutMs = pingTimeoutMs
    this.http2 = connect(origin, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: streamWindowBytes },
    })
    this.http2.setLocalWindowSize(connectionWindowBytes)
    this.http2.on('remoteSettings', this.#onSettings)
    // Its streams report what went wrong.
    this.http2.on('error', this.#onError)
    this.http2.on('goaway', this.#onGoaway)
    this.http2.on('close', this.#onClose)
    this.http2.setTimeout(idleMs, this.#onIdle)
    this.#timer = setTimeout(this.#onTimeout, timeoutMs)
  }

  /** How many requests it takes at a time, if they are not too many for us. */
  get streamsMax(): number {
    return this.#streamsMax
  }

  get isOpen(): boolean {
    return !this.http2.destroyed && !this.http2.closed
  }

  get isIdle(): boolean {
    return this.#streams === 0
  }

  get hasRoom(): boolean {
    return this.#streams < this.#streamsMax && this.isOpen
  }

  addStream(): void {
    this.#streams++
    this.hasServed = true
  }

  removeStream(): void {
    this.#streams--
    this.#events.onCapacity()
  }

  /**
   * To be called when the target has let a request time out. If it does not even answer a PING, the connection may be
   * dead, which TCP notices only after a quarter of an hour: it gets no more requests, and those that it has time out.
   */
  checkAlive(): void {
    if (this.#pingTimer !== undefined || !this.isOpen) return
    this.#pingTimer = setTimeout(() => this.#retire(), this.#pingTimeoutMs)
    this.http2.ping(() => {
      clearTimeout(this.#pingTimer)
      this.#pingTimer = undefined
    })
  }

  /** Completes the requests that it has. */
  close(): void {
    this.http2.close()
  }

  destroy(): void {
    clearTimeout(this.#timer)
    this.#isReady = true
    this.http2.destroy()
  }

  readonly #onSettings = ({ maxConcurrentStreams = streamsMax }): void => {
    this.#streamsMax = Math.min(streamsMax, maxConcurrentStreams)
    if (this.#isReady) {
      this.#events.onCapacity()
      return
    }
    // A target that allows none yet may do so soon.
    if (this.#streamsMax === 0) return
    this.#isReady = true
    clearTimeout(this.#timer)
    this.#events.onReady()
  }

  readonly #onError = (error: Error): void => {
    this.#fail(new UpstreamFailure('connect-failed', `no connection of HTTP/2: ${error.message}`, error))
  }

  readonly #onGoaway = (_code: number, lastStreamId: number): void => {
    this.lastStreamId = lastStreamId
    this.#fail(new UpstreamFailure('connect-failed', 'the target ended the connection at once (GOAWAY)'))
    this.#events.onEnding()
  }

  readonly #onClose = (): void => {
    this.#fail(new UpstreamFailure('connect-failed', 'the target closed the connection at once'))
    this.#events.onEnding()
  }

  readonly #onTimeout = (): void => {
    const detail = 'the target did not say in time (SETTINGS) that it takes requests of HTTP/2'
    this.#fail(new UpstreamFailure('connect-timeout', detail))
  }

  readonly #onIdle = (): void => {
    if (this.isIdle) this.#retire()
  }

  #retire(): void {
    this.#events.onEnding()
    this.close()
  }

  /** Before it was ready. */
  #fail(failure: UpstreamFailure): void {
    if (this.#isReady) return
    this.destroy()
    this.#events.onFailure(failure)
  }
}
