import { type MonotonicClock, type MonotonicMs, monotonicClock } from '#platform/time.ts'
import { tooMany } from './protocol.ts'

/** How many bytes of control frames are allowed for each byte of messages in either direction: as in nginx. */
const controlBytesPerByte = 8
/** How many more are allowed at once, and per second: about 15,000 PINGs, and 960. */
const controlBytesMax = 262_144
const controlBytesPerSecond = 16_384
/** How many streams may be wasted at once, and how many more each second: as nghttp2 limits resets. */
const wastedStreamsMax = 1_000
const wastedStreamsPerSecond = 33

/**
 * Limits what a client can make us do at almost no cost to itself. Control frames are measured against messages, as
 * gRPC clients send a PING and two WINDOW_UPDATEs for each piece of data that they read, however fast.
 */
export class FloodGuard {
  readonly #messageBytes: () => number
  readonly #monotonic: MonotonicClock
  #controlBytes = 0
  /** When control frames were last offset against messages, and how many message bytes there were by then. */
  #settledAt: MonotonicMs
  #settledBytes = 0
  readonly #streams: RefillingBudget

  /** @param messageBytes the total length of HEADERS and DATA frames of the connection, in both directions */
  constructor(messageBytes: () => number, monotonic = monotonicClock) {
    this.#messageBytes = messageBytes
    this.#monotonic = monotonic
    this.#settledAt = monotonic()
    this.#streams = new RefillingBudget(wastedStreamsMax, wastedStreamsPerSecond, this.#settledAt)
  }

  /**
   * Counts a frame that carries no part of a message.
   * @param bytes its length, including its head
   * @throws ConnectionError
   */
  countControlFrame(bytes: number): void {
    this.#controlBytes += bytes
    // Only now, as reading the clock for each frame would cost too much.
    if (this.#controlBytes > controlBytesMax) this.#settle()
  }

  #settle(): void {
    const now = this.#monotonic()
    const messageBytes = this.#messageBytes()
    const allowed =
      (messageBytes - this.#settledBytes) * controlBytesPerByte +
      ((now - this.#settledAt) / 1_000) * controlBytesPerSecond
    this.#controlBytes = Math.max(0, this.#controlBytes - allowed)
    this.#settledAt = now
    this.#settledBytes = messageBytes
    if (this.#controlBytes > controlBytesMax)
      throw tooMany(`more than ${controlBytesMax} bytes of control frames, or empty ones, without messages`)
  }

  /** Counts a stream that the peer has reset, or that was reset because of the peer. @throws ConnectionError */
  countWastedStream(): void {
    this.#streams.spend(this.#monotonic())
    if (this.#streams.left < 0) throw tooMany(`more than ${wastedStreamsMax} streams were reset at once`)
  }
}

/**
 * How often something may be done on one connection: this many times at once, and this many per second in the long run.
 */
export class RefillingBudget {
  readonly #max: number
  readonly #perSecond: number
  #filledAt: MonotonicMs
  /** Below 0 once more was spent than there was. */
  left: number

  constructor(max: number, perSecond: number, now: MonotonicMs) {
    this.#max = max
    this.#perSecond = perSecond
    this.#filledAt = now
    this.left = max
  }

  /** @returns whether another one may be spent */
  spend(now: MonotonicMs): boolean {
    const gained = ((now - this.#filledAt) * this.#perSecond) / 1_000
    this.left = Math.min(this.#max, this.left + gained) - 1
    this.#filledAt = now
    return this.left >= 1
  }
}
