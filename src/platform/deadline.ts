import type { MonotonicMs } from './time.ts'

/** The time by which something from outside must have arrived. */
export interface Deadline {
  clear(): void
}

/** The last part of the time, which must pass while the event loop runs. */
const lastPartMs = 100

/**
 * Waits for something from outside. The event loop runs timers before it reads from sockets, so after a standstill (it
 * was blocked, or the process suspended) a plain timer would refuse what has already arrived, or could only be sent
 * after the standstill. So the last part of the time begins only when the event loop runs, and sockets are read once
 * more at its end.
 * @param onMissed called once, unless it is cleared first
 */
export function startDeadline(timeoutMs: number, onMissed: () => void): Deadline {
  const lastMs = Math.min(lastPartMs, timeoutMs / 2)
  let immediate: NodeJS.Immediate | undefined
  let timer = setTimeout(() => {
    timer = setTimeout(() => {
      immediate = setImmediate(onMissed)
    }, lastMs)
  }, timeoutMs - lastMs)
  return {
    clear: () => {
      clearTimeout(timer)
      clearImmediate(immediate)
    },
  }
}

/**
 * The result of work that waits for something from outside.
 * @throws what `missed` returns, if there is no result in time; the work continues nevertheless
 */
export function inTime<Value>(work: Promise<Value>, timeoutMs: number, missed: () => Error): Promise<Value> {
  return new Promise((resolve, reject) => {
    const deadline = startDeadline(timeoutMs, () => reject(missed()))
    work.then(resolve, reject).finally(deadline.clear)
  })
}

/** Whether work succeeds in time; if it does not, it continues nevertheless. */
export function isInTime(work: Promise<unknown>, timeoutMs: number): Promise<boolean> {
  return inTime(work, timeoutMs, () => new Error('late')).then(
    () => true,
    () => false,
  )
}

/** Like `AbortSignal.timeout`. @returns the signal, and `clear`, to be called once the work is over */
export function signalAtDeadline(timeoutMs: number): Deadline & { readonly signal: AbortSignal } {
  const controller = new AbortController()
  const { clear } = startDeadline(timeoutMs, () =>
    controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')),
  )
  return { signal: controller.signal, clear }
}

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
 * more than parsing the request. A deadline is noticed up to one period late, or two after a standstill of the event
 * loop: as in `startDeadline`, sockets are read first, and what could not be sent before gets some time.
 */
export class DeadlineSweep<Item extends Expiring = Expiring> {
  readonly #periodMs: number
  readonly #all = new UnorderedList<Item>()
  #timer: NodeJS.Timeout | undefined
  #sweptAt = 0
  /** Whether the last sweep was skipped: of two late sweeps in a row, the second counts. */
  #wasLeftOut = false

  constructor(periodMs: number) {
    this.#periodMs = periodMs
  }

  /**
   * The time of the last sweep: at most one period ago, or longer if the event loop stalled. Saves reading the clock
   * for deadlines that may be that much too early.
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
    this.#wasLeftOut = false
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
    this.#wasLeftOut = !this.#wasLeftOut && now - this.#sweptAt > lateFactor * this.#periodMs
    this.#sweptAt = now
    if (!this.#wasLeftOut) setImmediate(this.#sweep)
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
