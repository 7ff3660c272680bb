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
  #sweptAt = 0

  constructor(periodMs: number) {
    this.#periodMs = periodMs
  }

  /**
   * When it last looked, on the clock of performance.now(): a period ago at most, and longer where the process
   * stood still. For deadlines that may be as much too early: to ask the clock takes a while, too.
   */
  get sweptAt(): number {
    return this.#sweptAt
  }

  add(item: Expiring): void {
    this.#all.add(item)
    if (this.#timer) return
    this.#sweptAt = performance.now()
    this.#timer = setInterval(() => this.#run(), this.#periodMs).unref()
  }

  remove(item: Expiring): void {
    this.#all.delete(item)
    if (this.#all.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #run(): void {
    const now = performance.now()
    this.#sweptAt = now
    for (const item of this.#all) if (item.deadline <= now) item.expire(now)
  }
}
