import type { DeadlineSweep, Expiring } from './deadline-sweep.ts'

/** The span over which the rate of a body is looked at. */
export const bodyRateWindowMs = 10_000

/** Whose body is watched. */
export interface BodySender {
  /** Whether the answer has begun: then both sides may pause, and the timeouts of the target apply. */
  readonly isHeadSent: boolean
  /** The body came too slowly; told once. */
  onBodyTooSlow(): void
}

export interface BodyRateOptions {
  /** Bytes a second, from 1; read at each use. */
  readonly bodyRateMin: number
  readonly sweep: Pick<DeadlineSweep, 'add' | 'remove'>
}

/** Watches that a body comes at a least rate while its client is waited for. */
export class BodyRate implements Expiring {
  deadline = Number.POSITIVE_INFINITY
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

  /** The client is waited for from now on. */
  start(): void {
    if (this.#isWatching) return
    this.#isWatching = true
    this.#restart(performance.now())
    this.#options.sweep.add(this)
  }

  count(bytes: number): void {
    this.#awaitsContinue = false
    this.#bytes += bytes
  }

  /** The client is not waited for: its body is whole, or is not read at the moment. */
  stop(): void {
    if (!this.#isWatching) return
    this.#isWatching = false
    this.#options.sweep.remove(this)
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

  /** What came before does not count any more. */
  #restart(now: number): void {
    this.#bytes = 0
    this.deadline = now + bodyRateWindowMs
  }
}
