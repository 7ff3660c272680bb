import type { Clock } from '#platform/clock.ts'
import { isCurrent, type StoreConnectionState } from './store-connection-state.ts'

/** One moment on both clocks. */
export interface Moment {
  /** On the monotonic clock. */
  readonly now: number
  /** Milliseconds since 1970. */
  readonly time: number
}

/** How long cached data is used: for a moment after each reading of the change log, and through an outage. */
export interface Currency {
  /** A reading begins; there is one at a time. */
  begin(): Moment
  /** The reading that began then has succeeded. */
  onRead(begun: Moment): void
  /** The reading that began then has failed: the store does not respond. */
  onFailure(begun: Moment): void
  /** The reading is over, however it went. */
  end(): void
  /** A request has found the data too old, or the log could not be applied since. */
  onLapse(): void
  /** Whether this process has tried for long enough since it stalled. */
  hasTried(): boolean
  /** Whether the store counts as unreachable: cached data is used as it is. */
  isOutage(): boolean
}

/**
 * How long after the start of a reading cached data is used. In an ordinary outage a reading is sent within 150 ms
 * after the last, and has failed within 250 ms: nobody waits then. An idle process sends it within 400 ms: requests that
 * come 450 ms after the last wait for the failure, 200 ms at most. If more time has passed, this process stalled.
 */
const currentForMs = 450
/** Within what time a reading fails while this process runs: the timeout of the store, and what a timer may be late. */
const failsWithinMs = 300
/** How long a process that stalled tries to read the change log before it considers the store unreachable. */
const catchUpMs = 400

export function createCurrency(
  storeConnection: StoreConnectionState,
  clock: Clock,
  monotonic: Clock,
): Currency {
  /** When the reading in flight began. */
  let inFlight: Moment | undefined
  /** When this process was found to have stalled, if it has not read the change log since. */
  let stalledAt: number | undefined

  function begin(): Moment {
    inFlight = { now: monotonic(), time: clock() }
    return inFlight
  }

  function onRead({ now, time }: Moment): void {
    storeConnection.confirmedAt = time
    storeConnection.readAt = now
    storeConnection.currentUntil = now + currentForMs
    storeConnection.currentUntilTime = time + currentForMs
    stalledAt = undefined
  }

  /**
   * What was current until now is served for maxStale; but a process that stalled has to try for a while, as its
   * connections may just have been closed meanwhile.
   */
  function onFailure(begun: Moment): void {
    if (isOutage()) return
    if (!isPunctual(begun)) stalledAt ??= monotonic()
    if (stalledAt !== undefined && !hasTried()) return
    stalledAt = undefined
    storeConnection.currentUntil = Number.POSITIVE_INFINITY
    storeConnection.currentUntilTime = Number.POSITIVE_INFINITY
  }

  function onLapse(): void {
    // A punctual reading in flight will show in a moment whether the store responds.
    if (inFlight === undefined || !isPunctual(inFlight)) stalledAt ??= monotonic()
  }

  /** Whether a reading began while cached data was current, and is not overdue: this process has not stalled. */
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

  function isOutage(): boolean {
    return storeConnection.currentUntil === Number.POSITIVE_INFINITY
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
    isOutage,
  }
}
