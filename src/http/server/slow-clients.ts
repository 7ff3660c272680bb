import type { Expiring } from '#platform/deadline-sweep.ts'
import { type MonotonicMs, monotonicClock } from '#platform/time.ts'
import type { ExchangeOptions } from '../client-exchange.ts'

/** How much of a body is read after its response to keep the connection usable; beyond that, the connection ends. */
export const discardedBytesMax = 1_048_576
/** How long a client may take for the rest of such a body. */
export const discardTimeoutMs = 2_000
/**
 * How much, how long, and with what pauses a client may continue to send after a response that ends the connection (as
 * nginx's lingering_close): many clients read nothing before they have sent everything.
 */
const lingeringBytesMax = 1_073_741_824
const lingeringTotalMs = 30_000
const lingeringPauseMs = 2_000
/** How long a client may go without reading any of its response (as nginx's send_timeout). */
export const sendTimeoutMs = 60_000
/** An idle connection is kept longer than announced, so that a client that relies on it is never cut off. */
export const keepAliveMarginMs = 1_000

/** The window over which the rate of a body is measured. */
const bodyRateWindowMs = 10_000

/** The sender of the watched body. */
export interface BodySender {
  /** Whether the response has begun: then both sides may pause, and the target's timeouts apply. */
  readonly isHeadSent: boolean
  /** The body arrived too slowly; called once. */
  onBodyTooSlow(): void
}

type BodyRateOptions = Pick<ExchangeOptions, 'bodyRateMin' | 'bodies'>

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

  /** A new request begins. @param expectsContinue whether its client may wait for a `100` */
  begin(expectsContinue: boolean): void {
    this.#awaitsContinue = expectsContinue
  }

  /** The client has been sent a `100`. */
  onContinue(): void {
    this.#awaitsContinue = false
    this.#restart(monotonicClock())
  }

  /** The gateway begins to wait for the client. */
  start(): void {
    if (this.#isWatching) return
    this.#isWatching = true
    this.#restart(monotonicClock())
    this.#options.bodies.add(this)
  }

  count(bytes: number): void {
    this.#awaitsContinue = false
    this.#bytes += bytes
  }

  /** The gateway no longer waits for the client: the body is complete, or is not being read. */
  stop(): void {
    if (!this.#isWatching) return
    this.#isWatching = false
    this.#options.bodies.remove(this)
  }

  expire(now: MonotonicMs): void {
    const isFastEnough = this.#bytes >= (this.#options.bodyRateMin * bodyRateWindowMs) / 1_000
    if (isFastEnough || this.#awaitsContinue || this.#sender.isHeadSent) {
      this.#restart(now)
      return
    }
    this.stop()
    this.#sender.onBodyTooSlow()
  }

  /** Starts a new window. */
  #restart(now: MonotonicMs): void {
    this.#bytes = 0
    this.deadline = now + bodyRateWindowMs
  }
}

/**
 * Continues to read from a client whose connection or stream is ending: closing it while it sends would reset it, and
 * the client might lose the response before reading it (RFC 9112 9.6). Limited in time, silence and bytes.
 */
export class LingeringClose {
  #endsAt: MonotonicMs | undefined
  #bytes = 0

  get isActive(): boolean {
    return this.#endsAt !== undefined
  }

  /** @returns the deadline to close it */
  begin(now: MonotonicMs): MonotonicMs {
    this.#endsAt = now + lingeringTotalMs
    return now + lingeringPauseMs
  }

  /** Counts discarded input. @returns the new deadline; undefined = nothing more is to be read */
  discard(bytes: number, now: MonotonicMs): MonotonicMs | undefined {
    this.#bytes += bytes
    if (this.#endsAt === undefined || this.#bytes > lingeringBytesMax) return undefined
    return Math.min(this.#endsAt, now + lingeringPauseMs)
  }
}
