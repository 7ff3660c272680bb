import type { DeadlineSweep, Expiring } from '#platform/deadline.ts'

/** The window over which the rate of a body is measured. */
export const bodyRateWindowMs = 10_000

/** Sends the body that is watched. */
export interface BodySender {
  /** Whether the response has begun: then both sides may pause, and the timeouts of the target apply. */
  readonly isHeadSent: boolean
  /** The body arrived too slowly; called once. */
  onBodyTooSlow(): void
}

export interface BodyRateOptions {
  /** Bytes a second, from 1; read at each use. */
  readonly bodyRateMin: number
  readonly bodies: Pick<DeadlineSweep, 'add' | 'remove'>
}

/** Enforces a minimum rate on a request's body while the gateway waits for its client. */
export class BodyRate implements Expiring {
  deadline = Number.POSITIVE_INFINITY
  place = -1
  readonly #options: BodyRateOptions
  readonly #sender: BodySender
  #bytes = 0
  #isWatching = false
  /** Whether the client may wait for a `100` before it sends. */
  #awaitsContinue = false

  constructor(options: BodyRateOptions, sender: BodySender) {
    this.#options = options
    this.#sender = sender
  }

  /** A new request. @param expectsContinue whether its client may wait for a `100` */
  begin(expectsContinue: boolean): void {
    this.#awaitsContinue = expectsContinue
  }

  /** The client has been sent a `100`. */
  onContinue(): void {
    this.#awaitsContinue = false
    this.#restart(performance.now())
  }

  /** The gateway waits for the client from now on. */
  start(): void {
    if (this.#isWatching) return
    this.#isWatching = true
    this.#restart(performance.now())
    this.#options.bodies.add(this)
  }

  count(bytes: number): void {
    this.#awaitsContinue = false
    this.#bytes += bytes
  }

  /** The gateway does not wait for the client: the body is complete, or is not being read. */
  stop(): void {
    if (!this.#isWatching) return
    this.#isWatching = false
    this.#options.bodies.remove(this)
  }

  expire(now: number): void {
    const isFastEnough = this.#bytes >= (this.#options.bodyRateMin * bodyRateWindowMs) / 1_000
    if (isFastEnough || this.#awaitsContinue || this.#sender.isHeadSent) {
      this.#restart(now)
      return
    }
    this.stop()
    this.#sender.onBodyTooSlow()
  }

  /** Starts a new window. */
  #restart(now: number): void {
    this.#bytes = 0
    this.deadline = now + bodyRateWindowMs
  }
}
