import { tooMany } from './errors.ts'

/** How many frames that cost their sender nothing are read: more than gRPC sends to measure a fast connection. */
const controlFramesMax = 10_000
const controlWindowMs = 10_000
/** How many streams may be wasted at once, and how many more each second: as nghttp2 has it for resets. */
const wastedStreamsMax = 1_000
const wastedStreamsPerSecond = 33

/** Bounds what a peer can make us do for next to nothing. */
export class FloodGuard {
  #controlFrames = 0
  #countedSince = 0
  #wasted = 0
  #wastedAt = 0

  /** A frame that is answered, or has no effect. @throws ConnectionError */
  countControlFrame(now: number): void {
    if (now - this.#countedSince > controlWindowMs) {
      this.#countedSince = now
      this.#controlFrames = 0
    }
    if (++this.#controlFrames >= controlFramesMax)
      throw tooMany(`${controlFramesMax} control frames or empty ones within ${controlWindowMs / 1_000} s`)
  }

  /** A stream that its peer has reset, or was reset for what its peer did. @throws ConnectionError */
  countWastedStream(now: number): void {
    const left = this.#wasted - ((now - this.#wastedAt) / 1_000) * wastedStreamsPerSecond
    this.#wasted = Math.max(0, left) + 1
    this.#wastedAt = now
    if (this.#wasted > wastedStreamsMax)
      throw tooMany(`more than ${wastedStreamsMax} streams were reset at once`)
  }
}
