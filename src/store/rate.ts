/** So many requests at once, and after that as many per `perMs`. */
export interface Rate {
  readonly limit: number
  readonly perMs: number
}

export interface RateResult {
  readonly isAllowed: boolean
  /** How many more would be allowed now. */
  readonly remaining: number
  /** Until one more is allowed; 0 if this one was. */
  readonly retryMs: number
  /** Until the whole limit is allowed again. */
  readonly resetMs: number
}
