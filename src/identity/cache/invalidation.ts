import { setTimeout as delay } from 'node:timers/promises'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { type Clock, type EpochMs, type MonotonicClock, monotonicClock } from '#platform/time.ts'
import type { ChangeLogReading, ChangeStore, LoggedChange } from '#store/changes.ts'
import { createCatchUp, createCurrency, type Moment, type StoreConnectionState } from './store-connection.ts'

interface InvalidationOptions {
  readonly store: ChangeStore
  readonly storeConnection: StoreConnectionState
  /** How often the change log is read. */
  readonly pollMs: number
  /** How often it is read while the store announces changes of other instances, and no request uses cached data. */
  readonly idlePollMs: number
  readonly clock: Clock
  /** Default: performance.now(). */
  readonly monotonic?: MonotonicClock
  /** Drops the entries that a change affects. If it throws, the change counts as a gap: everything is dropped. */
  apply(change: LoggedChange): void
  /**
   * Drops everything, as it is not known what has changed.
   * @param reason `start`: this is the first reading
   */
  clear(reason: 'start' | 'gap'): void
  /** Called when the store has answered, or has failed to. */
  onStoreAnswer(error?: unknown): void
  /** The delay between a change and its application here. */
  onDelay(delayMs: number): void
  /** Called when a listener threw, which is a bug. The store has answered nevertheless. */
  onFault(error: unknown): void
}

export interface Invalidation {
  /**
   * Reads the change log now; resolves whether or not the store answered.
   * @throws what `clear` or `onStoreAnswer` throws: then nothing counts as read, and it is read again
   */
  poll(): Promise<void>
  /**
   * Resolves once a reading that began after this call has been applied. All callers share it.
   * @throws GatehouseError `store-unavailable`, and what `poll` throws
   */
  confirm(): Promise<void>
  /**
   * To be called if `storeConnection` is not current: resolves once a reading that began after this call has been
   * applied, or the store is unreachable, so that `cache.maxStale` applies.
   * @throws what `poll` throws
   */
  catchUp(): Promise<void>
  /** To be called if cached data is used after `storeConnection.refreshAt`: reads the change log soon. */
  refresh(): void
  /** Up to where the change log has been read and applied; 0 = nowhere. */
  position(): number
  close(): void
}

/**
 * The minimum time between the starts of readings for `confirm`: a flood of wrong credentials must not become a flood
 * of readings.
 */
const confirmGapMs = 5

/**
 * Keeps the caches consistent with the store. Entries that this process changes are dropped before the change is
 * answered; those that others change, when the change is announced, and at the latest with the next reading of the log.
 * A gap in the log, or a change that cannot be applied, drops everything.
 */
export function openInvalidation(options: InvalidationOptions): Invalidation {
  const {
    store,
    storeConnection,
    pollMs,
    idlePollMs,
    clock,
    monotonic = monotonicClock,
    clear,
    onStoreAnswer,
    onDelay,
    onFault,
  } = options
  const currency = createCurrency(storeConnection, clock, monotonic)
  let position: number | undefined
  /** When a change last failed to be applied. */
  let missedAt = 0
  /** Entries after the position that were already announced. */
  const announced = new Set<number>()
  let running: Promise<void> | undefined
  let startedAt = Number.NEGATIVE_INFINITY
  let isIdle = false
  /** Repeats every `pollMs`, or fires once after `idlePollMs`. */
  let timer = setInterval(pollAgain, pollMs).unref()
  let isClosed = false
  /** The reading that is due, but has not begun. */
  let next: Promise<void> | undefined

  function onChange(logged: LoggedChange): void {
    if (announced.has(logged.position) || (position !== undefined && logged.position <= position)) return
    announced.add(logged.position)
    applyAndMeasure(logged)
  }

  /** Announced changes are applied again: after a failover, another change may have taken the position. */
  function reapply(logged: LoggedChange): void {
    if (announced.has(logged.position)) apply(logged)
    else applyAndMeasure(logged)
  }

  function applyAndMeasure(logged: LoggedChange): void {
    apply(logged)
    onDelay(Math.max(0, clock() - logged.at))
  }

  /**
   * An entry that may not have been dropped must not be used: a change that fails to apply is treated as a gap in the
   * log.
   */
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
    const begun = currency.begin()
    const reading = await readChangeLog(begun)
    if (!reading) return
    // Set first, so that what has changed can be looked up again.
    storeConnection.isUp = true
    const { head, changes, completeSince } = reading
    // What was looked up before the first reading may have changed since.
    if (changes === undefined || position === undefined) clear(position === undefined ? 'start' : 'gap')
    if (position === undefined) for (const logged of changes ?? []) apply(logged)
    else for (const logged of changes ?? []) reapply(logged)
    recordReading(head, completeSince, begun)
    onStoreAnswer()
  }

  /** @returns undefined where the store does not respond */
  async function readChangeLog(begun: Moment): Promise<ChangeLogReading | undefined> {
    try {
      return await store.readChanges(position)
    } catch (error) {
      storeConnection.isUp = false
      currency.onFailure(begun)
      onStoreAnswer(error)
      return undefined
    }
  }

  function recordReading(head: number, completeSince: EpochMs, begun: Moment): void {
    const before = position === undefined ? missedAt : storeConnection.completeSince
    storeConnection.completeSince = Math.max(before, completeSince)
    currency.onRead(begun)
    position = head
    for (const known of announced) if (known <= head) announced.delete(known)
    if (!store.isListening()) return
    isIdle = true
    storeConnection.refreshAt = begun.now + pollMs
  }

  function poll(): Promise<void> {
    if (!running) {
      startedAt = monotonic()
      const wasIdle = isIdle
      // Only this reading will show whether the store is still reachable and announces changes.
      isIdle = false
      storeConnection.refreshAt = Number.POSITIVE_INFINITY
      running = read().finally(() => {
        running = undefined
        currency.end()
        if (isIdle || wasIdle) schedule()
      })
    }
    return running
  }

  function schedule(): void {
    clearInterval(timer)
    if (isClosed) return
    const waitMs = Math.max(0, Math.round(startedAt + idlePollMs - monotonic()))
    timer = (isIdle ? setTimeout(pollAgain, waitMs) : setInterval(pollAgain, pollMs)).unref()
  }

  function pollAgain(): void {
    if (!isClosed) poll().catch(onFault)
  }

  function refresh(): void {
    storeConnection.refreshAt = Number.POSITIVE_INFINITY
    // After the request that asked for it.
    setImmediate(pollAgain)
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

  /** Waits until no reading is in flight, as it may have begun too early, and until the last began long enough ago. */
  async function waitForSlot(): Promise<void> {
    for (;;) {
      assertUp()
      await running
      assertUp()
      const begunAt = startedAt
      const waitMs = begunAt + confirmGapMs - monotonic()
      if (waitMs > 0) await delay(Math.ceil(waitMs))
      assertUp()
      if (!running && startedAt === begunAt) return
    }
  }

  function assertUp(): void {
    if (!storeConnection.isUp) throw new GatehouseError('store-unavailable')
  }

  const stopListening = store.onChange(onChange)

  return {
    poll,
    confirm,
    catchUp: createCatchUp({ storeConnection, currency, monotonic, poll }),
    refresh,
    position: () => position ?? 0,
    close: () => {
      isClosed = true
      stopListening()
      clearInterval(timer)
    },
  }
}
