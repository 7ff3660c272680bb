import { setTimeout as delay } from 'node:timers/promises'
import type { Clock, EpochMs, MonotonicClock, MonotonicMs } from '#platform/time.ts'
import type { StoreHealth } from '#store/store-health.ts'

/** The current state of the connection to the store; only invalidation.ts writes it. At first nothing is cached. */
export class StoreConnectionState {
  /** Whether the store responded to the last request. */
  isUp = false
  /** When the change log was last read, which confirms all entries not dropped; 0 = never. */
  confirmedAt: EpochMs = 0
  /** The same moment on the other clock; -Infinity = never. */
  readAt: MonotonicMs = Number.NEGATIVE_INFINITY
  /** The time since which every change has been read; Infinity = nothing has been read yet. */
  completeSince: EpochMs = Number.POSITIVE_INFINITY
  /**
   * Until when cached data is used without another reading of the change log, or another failure of it in an outage,
   * when `cache.maxStale` limits it too; Infinity = no reading has ended yet.
   */
  currentUntil: MonotonicMs = Number.POSITIVE_INFINITY
  /** The same on the other clock: the monotonic one may stand still while the machine is suspended. */
  currentUntilTime: EpochMs = Number.POSITIVE_INFINITY
  /**
   * From when on a use of cached data triggers a reading of the change log, which is read less often while nobody uses
   * it; Infinity = it is read often enough, or right now.
   */
  refreshAt: MonotonicMs = Number.POSITIVE_INFINITY
}

export function isCurrent(
  storeConnection: Readonly<StoreConnectionState>,
  now: MonotonicMs,
  time: EpochMs,
): boolean {
  return now < storeConnection.currentUntil && time < storeConnection.currentUntilTime
}

/**
 * The combined health of all workers. A worker that was started while the store is unreachable has no accounts;
 * requests are served as long as another worker has some: `degraded`.
 */
export function mergeHealth(healths: readonly StoreHealth[]): StoreHealth {
  const [first, ...others] = healths
  if (first === undefined) return 'store-unavailable'
  return others.every((health) => health === first) ? first : 'degraded'
}

/** The same moment on both clocks. */
export interface Moment {
  readonly now: MonotonicMs
  readonly time: EpochMs
}

/**
 * Decides how long cached data is used: for a moment after each reading of the change log, and in an outage after each
 * failure of it, so that a process that stalls in either does not use it before it has tried to read the log.
 */
interface Currency {
  /** A reading begins; only one is in flight at a time. */
  begin(): Moment
  /** The reading that began then has succeeded. */
  onRead(begun: Moment): void
  /** The reading that began then has failed: the store does not respond. */
  onFailure(begun: Moment): void
  /** The reading is over, however it went. */
  end(): void
  /** A request has found the data too old, or the log could not be applied. */
  onLapse(): void
  /** Whether this process has tried long enough since it stalled. */
  hasTried(): boolean
  /** Whether the store counts as unreachable, so that cached data is used without confirmation. */
  isOutage(): boolean
}

/**
 * How long after the start of a reading cached data is used. In an ordinary outage a reading is sent within 150 ms
 * after the last, and has failed within 250 ms: nobody waits then. An idle process sends it within 400 ms: requests
 * that come 450 ms after the last wait for the failure, 200 ms at most. If more time has passed, this process stalled.
 */
const currentForMs = 450
/**
 * How long after a failed reading cached data is used in an outage. The next one begins within 150 ms and fails within
 * 250 ms. If twice as much time has passed, this process stalled.
 */
const outageCurrentForMs = 800
/** Within what time a reading fails in a running process: the timeout of the store, and how late a timer may be. */
const failsWithinMs = 300
/** How long a process that stalled tries to read the change log before it considers the store unreachable. */
const catchUpMs = 400

export function createCurrency(
  storeConnection: StoreConnectionState,
  clock: Clock,
  monotonic: MonotonicClock,
): Currency {
  /** When the reading in flight began. */
  let inFlight: Moment | undefined
  /** When this process was found to have stalled; undefined once it has read the change log. */
  let stalledAt: MonotonicMs | undefined
  /** Until the first reading, what was taken over from another process is used as in an outage. */
  let isOutage = true

  function begin(): Moment {
    inFlight = { now: monotonic(), time: clock() }
    return inFlight
  }

  function onRead({ now, time }: Moment): void {
    storeConnection.confirmedAt = time
    storeConnection.readAt = now
    useFrom({ now, time }, currentForMs)
    stalledAt = undefined
    isOutage = false
  }

  function useFrom({ now, time }: Moment, forMs: number): void {
    storeConnection.currentUntil = now + forMs
    storeConnection.currentUntilTime = time + forMs
  }

  /**
   * Cached data that was current so far is now used for maxStale. But a process that stalled first tries again for a
   * while, as its connections may just have been closed.
   */
  function onFailure(begun: Moment): void {
    const failed = { now: monotonic(), time: clock() }
    isOutage &&= isCurrent(storeConnection, failed.now, failed.time)
    if (!isOutage && !isPunctual(begun)) stalledAt ??= failed.now
    if (stalledAt !== undefined && !hasTried()) return
    stalledAt = undefined
    isOutage = true
    useFrom(failed, outageCurrentForMs)
  }

  function onLapse(): void {
    isOutage = false
    // A punctual reading in flight will soon show whether the store answers.
    if (inFlight === undefined || !isPunctual(inFlight)) stalledAt ??= monotonic()
  }

  /** Whether a reading began while cached data was current, and is not overdue; if so, this process has not stalled. */
  function isPunctual({ now, time }: Moment): boolean {
    return (
      isCurrent(storeConnection, now, time) &&
      monotonic() - now < failsWithinMs &&
      clock() - time < failsWithinMs
    )
  }

  function hasTried(): boolean {
    return stalledAt !== undefined && monotonic() - stalledAt >= catchUpMs
  }

  return {
    begin,
    onRead,
    onFailure,
    end: () => {
      inFlight = undefined
    },
    onLapse,
    hasTried,
    isOutage: () => isOutage,
  }
}

interface CatchUpOptions {
  readonly storeConnection: Readonly<StoreConnectionState>
  readonly currency: Currency
  readonly monotonic: MonotonicClock
  /** Reads the change log; resolves whether or not the store responded. */
  poll(): Promise<void>
}

/** How often a process that stalled tries to read the change log. */
const gapMs = 10

/**
 * Creates the function that waits until cached data contains what changed before its call, or the store is unreachable.
 */
export function createCatchUp({ storeConnection, currency, monotonic, poll }: CatchUpOptions) {
  let pause: Promise<void> | undefined

  async function catchUp(): Promise<void> {
    const since = monotonic()
    currency.onLapse()
    while (storeConnection.readAt < since && !currency.isOutage()) {
      await poll().catch(throwIfLate)
      if (!storeConnection.isUp) await pauseShared()
    }
  }

  /** Throws a fault that lasts: it is not an outage, in which the cache would be used. */
  async function throwIfLate(fault: unknown): Promise<void> {
    currency.onLapse()
    if (currency.hasTried()) throw fault
    await pauseShared()
  }

  /** All callers share one timer. */
  function pauseShared(): Promise<void> {
    pause ??= delay(gapMs).finally(() => {
      pause = undefined
    })
    return pause
  }

  return catchUp
}
