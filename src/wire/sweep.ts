/** What is to end at some time, unless that is put off. */
export interface Expiring {
  /** On the clock of performance.now(); Infinity = never. */
  deadline: number
  expire(now: number): void
}

/**
 * Looks after many deadlines with one timer: to put one off costs an assignment, where a timer of its own for
 * each request would cost more than the request's parsing. A deadline is noticed up to one period late.
 */
export class Sweep {
  readonly #periodMs: number
  readonly #all = new Set<Expiring>()
  #timer: NodeJS.Timeout | undefined

  constructor(periodMs: number) {
    this.#periodMs = periodMs
  }

  add(item: Expiring): void {
    this.#all.add(item)
    this.#timer ??= setInterval(() => this.#run(), this.#periodMs).unref()
  }

  remove(item: Expiring): void {
    this.#all.delete(item)
    if (this.#all.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #run(): void {
    const now = performance.now()
    for (const item of this.#all) if (item.deadline <= now) item.expire(now)
  }
}
