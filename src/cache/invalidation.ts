import { GatehouseError } from '../errors.ts'
import type { LoggedChange, Store } from '../store/store.ts'
import type { Contact } from './contact.ts'

export interface InvalidationOptions {
  readonly store: Pick<Store, 'readChanges' | 'onChange'>
  readonly contact: Contact
  /** How often the change log is read. */
  readonly pollMs: number
  /** Milliseconds since 1970. */
  readonly clock: () => number
  /** Forget what a change is about. */
  apply(change: LoggedChange): void
  /** Forget everything: what has changed cannot be told. */
  clear(): void
  /** The store has answered, or has not. */
  onContact(error?: unknown): void
  /** How long after it was made a change came to be applied here. */
  onDelay(delayMs: number): void
}

export interface Invalidation {
  /** Reads the change log now; resolves whether or not the store answered. */
  poll(): Promise<void>
  /**
   * Resolves once a reading that began after this was called has been applied. All who wait share it.
   * @throws GatehouseError `store-unavailable`
   */
  confirm(): Promise<void>
  close(): void
}

/**
 * How far apart readings begin that somebody waits for: wrong credentials come as fast as somebody sends them,
 * and are not to become as many readings.
 */
const confirmGapMs = 5

/**
 * Keeps the caches true to the store: what this process changes is dropped before the change is answered,
 * what others change when it is heard of, and at the latest when the log is read next. A gap in the log
 * drops everything.
 */
export function openInvalidation(options: InvalidationOptions): Invalidation {
  const { store, contact, pollMs, clock, apply, clear, onContact, onDelay } = options
  let position: number | undefined
  /** Entries after the position that were heard of already. */
  const heard = new Set<number>()
  let running: Promise<void> | undefined
  let begunAt = Number.NEGATIVE_INFINITY
  /** The reading that has not begun yet. */
  let next: Promise<void> | undefined

  function hear(logged: LoggedChange): void {
    if (heard.has(logged.position) || (position !== undefined && logged.position <= position)) return
    heard.add(logged.position)
    applyNow(logged)
  }

  /** What was heard of is applied again: after a failover another change may have come to its place. */
  function applyAgain(logged: LoggedChange): void {
    if (heard.has(logged.position)) apply(logged)
    else applyNow(logged)
  }

  function applyNow(logged: LoggedChange): void {
    apply(logged)
    onDelay(Math.max(0, clock() - logged.at))
  }

  async function read(): Promise<void> {
    const askedAt = clock()
    try {
      const { head, changes, completeSince } = await store.readChanges(position)
      // First: what has changed meanwhile can be looked up again now.
      contact.isUp = true
      // What was looked up before the first reading may have changed since.
      if (changes === undefined || position === undefined) clear()
      if (position === undefined) for (const logged of changes ?? []) apply(logged)
      else for (const logged of changes ?? []) applyAgain(logged)
      takeOver(head, completeSince, askedAt)
      onContact()
    } catch (error) {
      contact.isUp = false
      onContact(error)
    }
  }

  function takeOver(head: number, completeSince: number, askedAt: number): void {
    contact.completeSince =
      position === undefined ? completeSince : Math.max(contact.completeSince, completeSince)
    contact.confirmedAt = askedAt
    position = head
    for (const known of heard) if (known <= head) heard.delete(known)
  }

  function poll(): Promise<void> {
    if (!running) {
      begunAt = performance.now()
      running = read().finally(() => {
        running = undefined
      })
    }
    return running
  }

  function confirm(): Promise<void> {
    next ??= readNext()
    return next
  }

  async function readNext(): Promise<void> {
    try {
      await untilTurn()
    } finally {
      next = undefined
    }
    await poll()
    assertUp()
  }

  /** Until none is under way, which may have begun too early, and the last began long enough ago. */
  async function untilTurn(): Promise<void> {
    for (;;) {
      assertUp()
      await running
      assertUp()
      const waitMs = begunAt + confirmGapMs - performance.now()
      if (waitMs <= 0 && !running) return
      // A timer may come early by part of a millisecond.
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, Math.ceil(waitMs)))
    }
  }

  function assertUp(): void {
    if (!contact.isUp) throw new GatehouseError('store-unavailable')
  }

  store.onChange(hear)
  const timer = setInterval(poll, pollMs)
  timer.unref()

  return { poll, confirm, close: () => clearInterval(timer) }
}
