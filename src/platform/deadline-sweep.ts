import { type Listed, UnorderedList } from './unordered-list.ts'

/** Something that expires at its deadline, which may be postponed. It is in one sweep at a time. */
export interface Expiring extends Listed {
  /** On the clock of performance.now(); Infinity = never. */
  deadline: number
  expire(now: number): void
}

/**
 * Watches many deadlines with one timer: postponing one costs an assignment, while a timer for each request would
 * cost more than parsing the request. A deadline is noticed up to one period late.
 */
export class DeadlineSweep<Item extends Expiring = Expiring> {
  readonly #periodMs: number
  readonly #all = new UnorderedList<Item>()
  #timer: NodeJS.Timeout | undefined
  #sweptAt = 0

  constructor(periodMs: number) {
    this.#periodMs = periodMs
  }

  /**
   * When it last swept, on the clock of performance.now(): at most one period ago, or longer if the event loop
   * stalled. For deadlines that may be that much too early: it saves reading the clock.
   */
  get sweptAt(): number {
    return this.#sweptAt
  }

  get size(): number {
    return this.#all.size
  }

  add(item: Item): void {
    this.#all.add(item)
    if (this.#timer) return
    this.#sweptAt = performance.now()
    this.#timer = setInterval(() => this.#run(), this.#periodMs).unref()
  }

  remove(item: Item): void {
    this.#all.remove(item)
  }

  /** Those that it watches. They may be removed meanwhile, and others added: those that are added are left out. */
  [Symbol.iterator](): Iterator<Item> {
    return this.#all[Symbol.iterator]()
  }

  #run(): void {
    // Only here, not with the last that is removed: where they come one at a time, each would start a timer of its own.
    if (this.#all.size === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
      return
    }
    const now = performance.now()
    this.#sweptAt = now
    this.#all.forEach((item) => {
      if (item.deadline <= now) item.expire(now)
    })
  }
}
