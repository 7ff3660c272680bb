import type { Socket } from 'node:net'
import { type Deadline, startDeadline } from '#platform/deadline.ts'
import { DeadlineSweep, type Expiring } from '#platform/deadline-sweep.ts'
import { monotonicClock } from '#platform/time.ts'
import { RefillingBudget } from '../../h2/framing/flood-guard.ts'
import { FrameConnection } from '../../h2/framing/frame-connection.ts'
import type { FrameStream } from '../../h2/framing/frame-stream.ts'
import { type ConnectionError, errorCode } from '../../h2/framing/protocol.ts'
import { UpstreamFailure } from '../failure.ts'

/** How many requests are sent on one connection, if the target allows that many. */
export const streamsMax = 100
const streamWindowBytes = 262_144
const connectionWindowBytes = 4_194_304
/**
 * How many requests on one connection may be cancelled at once, and how many per second in the long run. After too
 * many, servers end the connection for all who share it: nghttp2 and Node after 1,000 and 33, Netty and Undertow after
 * 200 within 30 s. Requests that are still open when our budget is spent, at most 100, may be cancelled as well: even
 * then the total is lower.
 */
export const resetsMax = 64
export const resetsPerSecond = 2
/** A connection without requests is closed after this long. */
const idleMs = 60_000
/** For the fields of a response: the maximum size of a head in HTTP/1.1. */
const headSizeMax = 65_536
const sweep = new DeadlineSweep(1_000)

interface SessionOptions {
  /** Higher than those of earlier connections to the same target. */
  readonly number: number
  /** How long the target may take to show that it speaks HTTP/2 and accepts requests. */
  readonly timeoutMs: number
  /** How long it may take to answer a PING. */
  readonly pingTimeoutMs: number
}

/** One of the first two is called, once, unless the session is destroyed first. */
export interface SessionEvents {
  /** The target accepts requests. */
  onReady(session: UpstreamSession): void
  onFailure(failure: UpstreamFailure): void
  /** A request has ended, or the target has changed the number of requests that it allows. */
  onCapacity(session: UpstreamSession): void
  /** It accepts no more requests; those that it has are completed. */
  onEnding(session: UpstreamSession): void
}

/** An HTTP/2 connection to a target. It accepts requests once the target has said how many (RFC 9113 6.5.2). */
export class UpstreamSession implements Expiring {
  readonly number: number
  /** When it is closed, if it is not used again. */
  deadline = Number.POSITIVE_INFINITY
  place = -1
  readonly #connection: FrameConnection
  /** Whether it has carried a request. */
  hasServed = false
  readonly #events: SessionEvents
  readonly #timer: Deadline
  readonly #pingTimeoutMs: number
  readonly #resets = new RefillingBudget(resetsMax, resetsPerSecond, monotonicClock())
  #pingTimer: Deadline | undefined
  #streams = 0
  /** How many requests it accepts at a time, within our own limit; 0 = the target has not said yet. */
  streamsMax = 0
  #isReady = false
  #isEnding = false

  constructor(socket: Socket, { number, timeoutMs, pingTimeoutMs }: SessionOptions, events: SessionEvents) {
    this.number = number
    this.#events = events
    this.#pingTimeoutMs = pingTimeoutMs
    this.#connection = new FrameConnection(
      socket,
      {
        isServer: false,
        settings: { enablePush: 0, initialWindowSize: streamWindowBytes, maxHeaderListSize: headSizeMax },
        windowBytes: connectionWindowBytes,
        streamsMax: 0,
        headSizeMax: () => headSizeMax,
      },
      {
        onStream: () => {},
        onSettings: this.#onSettings,
        onGoaway: this.#onGoaway,
        onPing: () => {},
        onClose: this.#onClose,
      },
    )
    sweep.add(this)
    this.#timer = startDeadline(timeoutMs, this.#onTimeout)
  }

  get isOpen(): boolean {
    return !this.#isEnding
  }

  get isIdle(): boolean {
    return this.#streams === 0
  }

  get hasRoom(): boolean {
    return this.#streams < this.streamsMax && !this.#isEnding
  }

  /** Reserves the place of a request; see `open`. */
  addStream(): void {
    this.#streams++
    this.hasServed = true
    this.deadline = Number.POSITIVE_INFINITY
  }

  /** Opens the stream of a request. */
  open(): FrameStream {
    const stream = this.#connection.openStream()
    if (!this.#connection.hasStreamIds) this.retire()
    return stream
  }

  removeStream(): void {
    this.#streams--
    if (this.#streams === 0) {
      this.deadline = monotonicClock() + idleMs
      if (this.#isEnding) this.#connection.end()
    }
    this.#events.onCapacity(this)
  }

  /**
   * To be called when a request to the target has timed out. If it does not even answer a PING, the connection may be
   * dead, which TCP notices only after a quarter of an hour: no more requests are sent on it, and those that it has
   * time out.
   */
  checkAlive(): void {
    if (this.#pingTimer !== undefined || !this.isOpen) return
    this.#pingTimer = startDeadline(this.#pingTimeoutMs, () => this.retire())
    this.#connection.ping(() => {
      this.#pingTimer?.clear()
      this.#pingTimer = undefined
    })
  }

  /** Closes the connection once its requests are completed. */
  close(): void {
    this.#isEnding = true
    if (this.isIdle) this.#connection.end()
  }

  destroy(): void {
    this.#timer.clear()
    this.#isReady = true
    this.#isEnding = true
    this.#connection.socket.destroy()
  }

  /** Closes the connection, which has not been used for long. */
  expire(): void {
    if (this.isIdle) this.retire()
  }

  readonly #onSettings = (allowed: number): void => {
    this.streamsMax = Math.min(streamsMax, allowed)
    if (this.#isReady) {
      this.#events.onCapacity(this)
      return
    }
    // A target that allows none yet may do so soon.
    if (this.streamsMax === 0) return
    this.#isReady = true
    this.deadline = monotonicClock() + idleMs
    this.#timer.clear()
    this.#events.onReady(this)
  }

  /** Streams above the last one were not processed (RFC 9113 6.8); after an error, the others are lost. */
  readonly #onGoaway = (lastStreamId: number, code: number): void => {
    this.#fail(new UpstreamFailure('connect-failed', 'the target ended the connection at once (GOAWAY)'))
    this.#isEnding = true
    this.#events.onEnding(this)
    for (const stream of this.#connection.streams)
      if (stream.id > lastStreamId) stream.close(errorCode.refusedStream)
      else if (code !== errorCode.noError) stream.onLost(errorCode.cancel)
    if (this.isIdle) this.#connection.end()
  }

  readonly #onClose = (error: ConnectionError | undefined): void => {
    sweep.remove(this)
    const what =
      error === undefined ? 'the target closed the connection at once' : `no HTTP/2: ${error.message}`
    this.#isEnding = true
    this.#pingTimer?.clear()
    this.#fail(new UpstreamFailure('connect-failed', what, error))
    this.#events.onEnding(this)
  }

  readonly #onTimeout = (): void => {
    const detail = 'the target did not send HTTP/2 SETTINGS in time'
    this.#fail(new UpstreamFailure('connect-timeout', detail))
  }

  /** To be called when a request is cancelled. The connection is retired before the target ends it for all others. */
  onReset(): void {
    if (!this.#resets.spend(monotonicClock()) && !this.#isEnding) this.retire()
  }

  /** Accepts no more requests; those that it has are completed. */
  retire(): void {
    this.#events.onEnding(this)
    this.close()
  }

  /** Ends the session with this failure, unless it has become ready. */
  #fail(failure: UpstreamFailure): void {
    if (this.#isReady) return
    this.destroy()
    this.#events.onFailure(failure)
  }
}
