import { GatehouseError } from '../errors/gatehouse-error.ts'
import { type Clock, monotonicClock } from '../platform/clock.ts'
import type { ChangeLogReading, ChangeStore, LoggedChange } from '../store/changes.ts'
import { isCurrent, type StoreConnectionState } from './store-connection-state.ts'

export interface InvalidationOptions {
  readonly store: ChangeStore
  readonly storeConnection: StoreConnectionState
  /** How often the change log is read. */
  readonly pollMs: number
  /** Milliseconds since 1970. */
  readonly clock: Clock
  /** For spans; default: performance.now(). */
  readonly monotonic?: Clock
  /** Drops the entries that a change affects. If it throws, the change counts as a gap: everything is dropped. */
  apply(change: LoggedChange): void
  /**
   * Drops everything, as it is not known what has changed.
   * @param reason `start`: this is the first reading
   */
  clear(reason: 'start' | 'gap'): void
  /** The store has responded, or has not. */
  onStoreAnswer(error?: unknown): void
  /** The delay between a change and its application here. */
  onDelay(delayMs: number): void
  /** A fault: a listener threw. The store has responded nevertheless. */
  onFault(error: unknown): void
}

export interface Invalidation {
  /**
   * Reads the change log now; resolves whether or not the store responded.
   * @throws what `clear` or `onStoreAnswer` throws: then nothing counts as read, and it is read again
   */
  poll(): Promise<void>
  /**
   * Resolves once a reading that began after this call has been applied. All callers share it.
   * @throws GatehouseError `store-unavailable`; what `poll` throws
   */
  confirm(): Promise<void>
  /**
   * To be called where `storeConnection` is not current: resolves once a reading that began after this call has been
   * applied, or the store is unreachable, so that `cache.maxStale` applies.
   * @throws what `poll` throws
   */
  catchUp(): Promise<void>
  close(): void
}

/**
 * The minimum time between the starts of readings for `confirm`: a flood of wrong credentials must not become a flood
 * of readings.
 */
const confirmGapMs = 5

/**
 * How long after the start of a reading cached data is used. In an ordinary outage a reading is sent within 150 ms
 * after the last and has failed within 250 ms: nobody waits then. If more time has passed, this process stalled.
 */
const currentForMs = 450
/** How long a process that stalled tries to read the change log before it considers the store unreachable. */
const catchUpMs = 400
const catchUpGapMs = 10

/**
 * Keeps the caches consistent with the store: what this process changes is dropped before the change is answered, what
 * others change when it is announced, and at the latest when the log is read next. A gap in the log drops everything,
 * and so does a change that cannot be applied.
 */
export function openInvalidation(options: InvalidationOptions): Invalidation {
  const {
    store,
    storeConnection,
    pollMs,
    clock,
    monotonic = monotonicClock,
    clear,
    onStoreAnswer,
    onDelay,
  } = options
  const { onFault } = options
  let position: number | undefined
  /** When a change could not be applied. */
  let missedAt = 0
  /** Entries after the position that were already announced. */
  const announced = new Set<number>()
  let running: Promise<void> | undefined
  let startedAt = Number.NEGATIVE_INFINITY
  /** The reading that has not begun yet. */
  let next: Promise<void> | undefined
  /** When this process was found to have stalled, if it has not read the change log since. */
  let stalledAt: number | undefined
  let pause: Promise<void> | undefined

  function onChange(logged: LoggedChange): void {
    if (announced.has(logged.position) || (position !== undefined && logged.position <= position)) return
    announced.add(logged.position)
    applyAndMeasure(logged)
  }

  /** An announced change is applied again: after a failover another change may have taken its position. */
  function reapply(logged: LoggedChange): void {
    if (announced.has(logged.position)) apply(logged)
    else applyAndMeasure(logged)
  }

  function applyAndMeasure(logged: LoggedChange): void {
    apply(logged)
    onDelay(Math.max(0, clock() - logged.at))
  }

  /** An entry that may not have been dropped must not be used: a change that fails here is a gap in the log. */
  function apply(logged: LoggedChange): void {
    try {
      options.apply(logged)
    } catch (error) {
      onFault(error)
      missedAt = clock()
      storeConnection.completeSince = Math.max(storeConnection.completeSince, missedAt)
      clear('gap')
    }
  }

  async function read(): Promise<void> {
    const asked = { at: clock(), now: monotonic() }
    const reading = await readChangeLog()
    if (!reading) return
    // First: what has changed meanwhile can be looked up again now.
    storeConnection.isUp = true
    const { head, changes, completeSince } = reading
    // What was looked up before the first reading may have changed since.
    if (changes === undefined || position === undefined) clear(position === undefined ? 'start' : 'gap')
    if (position === undefined) for (const logged of changes ?? []) apply(logged)
    else for (const logged of changes ?? []) reapply(logged)
    recordReading(head, completeSince, asked)
    onStoreAnswer()
  }

  /** @returns undefined where the store does not respond */
  async function readChangeLog(): Promise<ChangeLogReading | undefined> {
    try {
      return await store.readChanges(position)
    } catch (error) {
      storeConnection.isUp = false
      recordOutage()
      onStoreAnswer(error)
      return undefined
    }
  }

  function recordReading(head: number, completeSince: number, asked: { at: number; now: number }): void {
    const before = position === undefined ? missedAt : storeConnection.completeSince
    storeConnection.completeSince = Math.max(before, completeSince)
    storeConnection.confirmedAt = asked.at
    storeConnection.readAt = asked.now
    storeConnection.currentUntil = asked.now + currentForMs
    storeConnection.currentUntilTime = asked.at + currentForMs
    stalledAt = undefined
    position = head
    for (const known of announced) if (known <= head) announced.delete(known)
  }

  /**
   * The store does not respond. What was current until now is served for maxStale; but a process that stalled has to
   * try for a while, as its connections may just have been closed meanwhile.
   */
  function recordOutage(): void {
    const now = monotonic()
    if (!isCurrent(storeConnection, now, clock())) stalledAt ??= now
    if (stalledAt !== undefined && now - stalledAt < catchUpMs) return
    stalledAt = undefined
    storeConnection.currentUntil = Number.POSITIVE_INFINITY
    storeConnection.currentUntilTime = Number.POSITIVE_INFINITY
  }

  async function catchUp(): Promise<void> {
    const since = monotonic()
    stalledAt ??= since
    while (storeConnection.readAt < since && storeConnection.currentUntil !== Number.POSITIVE_INFINITY) {
      await poll().catch(throwIfLate)
      if (!storeConnection.isUp) await pauseShared()
    }
  }

  /** A fault, not an outage: then the cache is not used, however long it lasts. */
  async function throwIfLate(fault: unknown): Promise<void> {
    if (stalledAt !== undefined && monotonic() - stalledAt >= catchUpMs) throw fault
    await pauseShared()
  }

  /** All callers share one timer. */
  function pauseShared(): Promise<void> {
    pause ??= new Promise<void>((resolve) => setTimeout(resolve, catchUpGapMs)).finally(() => {
      pause = undefined
    })
    return pause
  }

  function poll(): Promise<void> {
    if (!running) {
      startedAt = performance.now()
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
      await waitForSlot()
    } finally {
      next = undefined
    }
    await poll()
    assertUp()
  }

  /** Waits until no reading is in flight, which may have begun too early, and the last began long enough ago. */
  async function waitForSlot(): Promise<void> {
    for (;;) {
      assertUp()
      await running
      assertUp()
      const waitMs = startedAt + confirmGapMs - performance.now()
      if (waitMs <= 0 && !running) return
      // A timer may fire early by part of a millisecond.
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, Math.ceil(waitMs)))
    }
  }

  function assertUp(): void {
    if (!storeConnection.isUp) throw new GatehouseError('store-unavailable')
  }

  store.onChange(onChange)
  const timer = setInterval(() => void poll().catch(onFault), pollMs)
  timer.unref()

  return { poll, confirm, catchUp, close: () => clearInterval(timer) }
}
