import { type Clock, monotonicClock } from '#platform/clock.ts'
import { tooMany } from './errors.ts'

/** How many bytes of control frames may come for each byte of messages in either direction: as in nginx. */
const controlBytesPerByte = 8
/** How many more may come at once, and each second: of PINGs these are about 15,000, and 960. */
const controlBytesMax = 262_144
const controlBytesPerSecond = 16_384
/** How many streams may be wasted at once, and how many more each second: as nghttp2 has it for resets. */
const wastedStreamsMax = 1_000
const wastedStreamsPerSecond = 33

/**
 * Bounds what a client can make us do for next to nothing. Control frames are measured by the messages that they are
 * about: clients of gRPC send a PING and two WINDOW_UPDATEs for each piece of data that they read, however fast.
 */
export class FloodGuard {
  readonly #messageBytes: () => number
  readonly #clock: Clock
  #controlBytes = 0
  /** When they were last settled, and how many bytes of messages there were by then. */
  #settledAt: number
  #settledBytes = 0
  #wasted = 0
  #wastedAt = 0

  /** @param messageBytes how long the HEADERS and DATA frames of the connection are in all, in both directions */
  constructor(messageBytes: () => number, clock = monotonicClock) {
    this.#messageBytes = messageBytes
    this.#clock = clock
    this.#settledAt = clock()
  }

  /** A frame that carries no part of a message. @param bytes its length, with its head @throws ConnectionError */
  countControlFrame(bytes: number): void {
    this.#controlBytes += bytes
    // The clock is not read before.
    if (this.#controlBytes > controlBytesMax) this.#settle()
  }

  #settle(): void {
    const now = this.#clock()
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

  /** A stream that its peer has reset, or was reset for what its peer did. @throws ConnectionError */
  countWastedStream(): void {
    const now = this.#clock()
    const left = this.#wasted - ((now - this.#wastedAt) / 1_000) * wastedStreamsPerSecond
    this.#wasted = Math.max(0, left) + 1
    this.#wastedAt = now
    if (this.#wasted > wastedStreamsMax)
      throw tooMany(`more than ${wastedStreamsMax} streams were reset at once`)
  }
}
