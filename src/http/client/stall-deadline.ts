import { monotonicClock } from '#platform/clock.ts'
import { DeadlineSweep, type Expiring } from '#platform/deadline.ts'
import { UpstreamFailure } from './failure.ts'
import type { RequestOptions } from './upstream-connection.ts'

/** Watches the deadlines of all requests to targets. */
export const stallSweep = new DeadlineSweep(50)
const never = Number.POSITIVE_INFINITY

/**
 * How long a request to a target may stand still: the response timeout while the target has to answer, which is until
 * its head, and before the body of a client that waits for a `100`; else the idle timeout, within bodies.
 */
export class StallDeadline implements Expiring {
  deadline = never
  place = -1
  /** Whether the whole request was sent. */
  isRequestSent = false
  /** Since when it has been paused; Infinity = it is not. */
  pausedAt = never
  readonly #onExpired: (isForHead: boolean) => void
  /** undefined = it is not postponed any more. */
  #options: RequestOptions | undefined
  /** Whether the client sends no body before the target says so (RFC 9110 10.1.1). */
  #awaitsContinue = false
  #isHeadReceived = false
  #isForHead = false

  /** @param onExpired told whether the target had to answer */
  constructor(onExpired: (isForHead: boolean) => void) {
    this.#onExpired = onExpired
  }

  get isPaused(): boolean {
    return this.pausedAt !== never
  }

  /** The head of a request is sent. @param now on the clock of performance.now() */
  start(options: RequestOptions, now: number): void {
    this.#options = options
    this.isRequestSent = options.body === 'none'
    this.#awaitsContinue = options.expectsContinue && !this.isRequestSent
    this.#isHeadReceived = false
    this.#isForHead = false
    this.pausedAt = never
    this.postpone(now)
  }

  /** A piece of the body is sent. */
  onRequestData(): void {
    this.#awaitsContinue = false
    this.postpone()
  }

  /** The body is complete: from now on the target has all of its time. */
  onRequestEnd(): void {
    this.isRequestSent = true
    if (this.#awaitsContinue) this.#isForHead = false
    this.#awaitsContinue = false
    this.postpone()
  }

  /** A 1xx. After a `100` it is the client's turn. */
  onInformation(status: number): void {
    if (status === 100 && this.#awaitsContinue) this.onRequestData()
  }

  /** To be postponed once all that came with it is read. */
  onHead(): void {
    this.#isHeadReceived = true
  }

  /** What is not read cannot be known to stand still. */
  pause(): void {
    if (!this.isPaused) this.pausedAt = monotonicClock()
    this.postpone()
  }

  resume(): void {
    this.pausedAt = never
    this.postpone()
  }

  /** Data has moved, in either direction. */
  postpone(now = monotonicClock()): void {
    const options = this.#options
    if (!options) return
    const isForHead = (this.isRequestSent || this.#awaitsContinue) && !this.#isHeadReceived
    // The whole head must arrive in time: a 1xx does not extend the deadline.
    if (isForHead && this.#isForHead && this.deadline !== never) return
    this.#isForHead = isForHead
    const timeoutMs = isForHead ? options.responseTimeoutMs : options.idleTimeoutMs
    this.deadline = this.isPaused ? never : now + timeoutMs
  }

  /** It stays as it is, whatever moves. */
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

  expire(): void {
    this.#onExpired(this.#isForHead)
  }
}
