import { DeadlineSweep, type Expiring } from '#platform/deadline-sweep.ts'
import { type MonotonicMs, monotonicClock } from '#platform/time.ts'
import { UpstreamFailure } from './failure.ts'
import type { RequestOptions } from './upstream-connection.ts'

/** Watches the deadlines of all requests to targets. */
export const stallSweep = new DeadlineSweep(50)
const never = Number.POSITIVE_INFINITY

/**
 * Limits how long a request to a target may make no progress. The response timeout applies while the target has to
 * answer: until the head of its response, and until its `100` if the client waits for one. The idle timeout applies
 * while bodies are being transferred.
 */
export class StallDeadline implements Expiring {
  deadline = never
  place = -1
  /** Whether the whole request was sent. */
  isRequestSent = false
  /** Since when it has been paused; Infinity = it is not. */
  pausedAt = never
  readonly expire: () => void
  /** undefined = the deadline is no longer postponed. */
  #options: RequestOptions | undefined
  /** Whether the client sends no body before the target says so (RFC 9110 10.1.1). */
  #awaitsContinue = false
  #isHeadReceived = false
  /** Whether the response timeout applies at present. */
  #isForHead = false

  constructor(onExpired: () => void) {
    this.expire = onExpired
  }

  get isPaused(): boolean {
    return this.pausedAt !== never
  }

  /** The head of a request has been sent. */
  start(options: RequestOptions, now: MonotonicMs): void {
    this.#options = options
    this.isRequestSent = options.body === 'none'
    this.#awaitsContinue = options.expectsContinue && !this.isRequestSent
    this.#isHeadReceived = false
    this.#isForHead = false
    this.pausedAt = never
    this.postpone(now)
  }

  /** A piece of the body has been sent. */
  onRequestData(): void {
    this.#awaitsContinue = false
    this.postpone()
  }

  /** The body is complete: the target now has its full time. */
  onRequestEnd(): void {
    this.isRequestSent = true
    if (this.#awaitsContinue) this.#isForHead = false
    this.#awaitsContinue = false
    this.postpone()
  }

  /** A 1xx has arrived. After a `100` the client is expected to send. */
  onInformation(status: number): void {
    if (status === 100 && this.#awaitsContinue) this.onRequestData()
  }

  /** The head has arrived; call `postpone` once everything that came with it has been read. */
  onHead(): void {
    this.#isHeadReceived = true
  }

  /** Stops the deadline: without reading, it is unknown whether there is progress. */
  pause(): void {
    if (!this.isPaused) this.pausedAt = monotonicClock()
    this.postpone()
  }

  resume(): void {
    this.pausedAt = never
    this.postpone()
  }

  /** Data has been transferred, in either direction. */
  postpone(now = monotonicClock()): void {
    const options = this.#options
    if (!options) return
    const isForHead = (this.isRequestSent || this.#awaitsContinue) && !this.#isHeadReceived
    // The complete head must arrive in time: a 1xx does not extend the deadline.
    if (isForHead && this.#isForHead && this.deadline !== never) return
    this.#isForHead = isForHead
    const timeoutMs = isForHead ? options.responseTimeoutMs : options.idleTimeoutMs
    this.deadline = this.isPaused ? never : now + timeoutMs
  }

  /** Keeps the deadline as it is, whatever is transferred. */
  freeze(): void {
    this.#options = undefined
  }

  stop(): void {
    this.#options = undefined
    this.deadline = never
  }

  /** The failure to report, depending on which side stalled. @param hasRoom whether more of the body could be sent */
  failure(hasRoom: boolean): UpstreamFailure {
    if (this.#isForHead)
      return new UpstreamFailure('response-timeout', 'no response within the response timeout')
    return !this.isRequestSent && hasRoom
      ? new UpstreamFailure('body-stalled', 'the client stopped sending the request body')
      : new UpstreamFailure('idle-timeout', 'no data within the idle timeout')
  }
}
