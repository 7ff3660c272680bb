import type { MonotonicMs } from './time.ts'

/** Something that expires at its deadline, which may be postponed. It is in one sweep at a time. */
export interface Expiring extends Listed {
  /** Infinity = never. */
  deadline: MonotonicMs
  expire(now: MonotonicMs): void
}

/** After this many periods without a sweep, the event loop has stood still. */
const lateFactor = 1.5

/**
 * Watches many deadlines with one timer. Postponing one is an assignment, while a timer for each request would cost
 * more than parsing the request. A deadline is noticed up to one period late, and after a standstill of the event loop
 * one more: as in `startDeadline`, sockets are read first, and what could not be sent before gets some time.
 */
export class DeadlineSweep<Item extends Expiring = Expiring> {
  readonly #periodMs: number
  readonly #all = new UnorderedList<Item>()
  #timer: NodeJS.Timeout | undefined
  #sweptAt: MonotonicMs = 0
  /** Whether the last sweep was skipped: of two late sweeps in a row, the second counts. */
  #wasSkipped = false

  constructor(periodMs: number) {
    this.#periodMs = periodMs
  }

  /**
   * The time of the last sweep: at most one period ago, or longer if the event loop stalled. Saves reading the clock
   * for deadlines that may be that much too early.
   */
  get sweptAt(): MonotonicMs {
    return this.#sweptAt
  }

  get size(): number {
    return this.#all.size
  }

  add(item: Item): void {
    this.#all.add(item)
    if (this.#timer) return
    this.#sweptAt = performance.now()
    this.#wasSkipped = false
    this.#timer = setInterval(() => this.#run(), this.#periodMs).unref()
  }

  remove(item: Item): void {
    this.#all.remove(item)
  }

  /** The watched items. While iterating, items may be removed; those that are added are skipped. */
  [Symbol.iterator](): Iterator<Item> {
    return this.#all[Symbol.iterator]()
  }

  #run(): void {
    // Only here, not when the last item is removed: items that come one at a time would each start a timer.
    if (this.#all.size === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
      return
    }
    const now = performance.now()
    this.#wasSkipped = !this.#wasSkipped && now - this.#sweptAt > lateFactor * this.#periodMs
    this.#sweptAt = now
    if (!this.#wasSkipped) setImmediate(this.#sweep)
  }

  readonly #sweep = (): void => {
    const now = this.#sweptAt
    this.#all.forEach((item) => {
      if (item.deadline <= now) item.expire(now)
    })
  }
}

/** Something that is in one list at a time. */
export interface Listed {
  /** Its index in its list; -1 = it is in none. Only the list sets it. */
  place: number
}

/**
 * Items that change with every request. Hot: a Set that changes so often keeps the garbage collector busy
 * (docs/performance.md).
 */
export class UnorderedList<Item extends Listed> {
  readonly #items: Item[] = []

  get size(): number {
    return this.#items.length
  }

  add(item: Item): void {
    if (item.place === -1) item.place = this.#items.push(item) - 1
  }

  /** @returns whether it was there */
  remove(item: Item): boolean {
    const { place } = item
    if (place === -1) return false
    item.place = -1
    const last = this.#items.pop()
    if (last !== undefined && last !== item) {
      this.#items[place] = last
      last.place = place
    }
    return true
  }

  /** Like iterating, for hot paths. */
  forEach(visit: (item: Item) => void): void {
    for (let index = this.#items.length - 1; index >= 0; index--) {
      const item = this.#items[index]
      if (item !== undefined) visit(item)
    }
  }

  /** While iterating, items may be removed; those that are added are skipped. */
  *[Symbol.iterator](): Generator<Item> {
    for (let index = this.#items.length - 1; index >= 0; index--) {
      const item = this.#items[index]
      if (item !== undefined) yield item
    }
  }
}
