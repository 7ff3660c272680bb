/**
 * How many requests on one connection may be cancelled at once, and how many a second in the long run. Servers end a
 * connection for more: nghttp2 and Node at 1,000 and 33, Netty and Undertow at 200 within 30 s. As those that are still
 * open once the budget is spent can be cancelled too, at most 100, the sum stays below.
 */
export const resetsMax = 64
export const resetsPerSecond = 2

/** The cancelled requests of one connection: whoever cancels many would end it for all who share it. */
export class ResetBudget {
  #left = resetsMax
  #filledAt: number

  /** @param now on the clock of performance.now() */
  constructor(now: number) {
    this.#filledAt = now
  }

  /** One request was cancelled. @returns whether another one may be */
  spend(now: number): boolean {
    const gained = ((now - this.#filledAt) * resetsPerSecond) / 1_000
    this.#left = Math.min(resetsMax, this.#left + gained) - 1
    this.#filledAt = now
    return this.#left >= 1
  }
}
