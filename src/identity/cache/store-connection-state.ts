/** The current state of the connection to the store; only invalidation.ts writes it. */
export interface StoreConnectionState {
  /** Whether the store responded to the last request. */
  isUp: boolean
  /** When the change log was last read, which confirms all entries not dropped; milliseconds since 1970, 0 = never. */
  confirmedAt: number
  /** The same moment on the monotonic clock; -Infinity = never. */
  readAt: number
  /** The time since which every change has been read; Infinity = nothing has been read yet. */
  completeSince: number
  /**
   * Until when cached data is used without another reading of the change log; Infinity = as long as the store is
   * unreachable, when `cache.maxStale` limits it. On the monotonic clock.
   */
  currentUntil: number
  /** The same in milliseconds since 1970: the monotonic clock may stand still while the machine is suspended. */
  currentUntilTime: number
  /**
   * From when on a use of cached data makes the change log be read again, as it is read less often while nobody uses
   * it; Infinity = it is read often enough, or now. On the monotonic clock.
   */
  refreshAt: number
}

/** The state before the first reading: nothing is cached yet. */
export function createStoreConnectionState(): StoreConnectionState {
  return {
    isUp: false,
    confirmedAt: 0,
    readAt: Number.NEGATIVE_INFINITY,
    completeSince: Number.POSITIVE_INFINITY,
    currentUntil: Number.POSITIVE_INFINITY,
    currentUntilTime: Number.POSITIVE_INFINITY,
    refreshAt: Number.POSITIVE_INFINITY,
  }
}

/** @param now on the monotonic clock  @param time milliseconds since 1970 */
export function isCurrent(
  storeConnection: Readonly<StoreConnectionState>,
  now: number,
  time: number,
): boolean {
  return now < storeConnection.currentUntil && time < storeConnection.currentUntilTime
}

/** `degraded`: the store is unreachable, but known principals are served. */
export type StoreHealth = 'ok' | 'degraded' | 'store-unavailable'

/**
 * The health of all workers together. A worker started while the store is unreachable has no accounts; as long as
 * another worker does, requests are served: `degraded`.
 */
export function mergeHealth(healths: readonly StoreHealth[]): StoreHealth {
  const [first, ...others] = healths
  if (first === undefined) return 'store-unavailable'
  return others.every((health) => health === first) ? first : 'degraded'
}
