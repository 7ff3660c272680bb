import { GatehouseError, isStoreUnavailable } from '#platform/errors/gatehouse-error.ts'
import type { MonotonicClock, MonotonicMs } from '#platform/time.ts'
import { createLru } from './bounded-caches.ts'
import type { StoreConnectionState } from './store-connection.ts'

/** `stale`: served while the store is unreachable (stale-if-error, RFC 5861). */
export type LookUpResult = 'hit' | 'negative_hit' | 'miss' | 'stale'

export interface LoadingCacheOptions<Value> {
  readonly entriesMax: number
  /** After how long an entry is refreshed, in the background. */
  readonly ttlMs: number
  /** How long an entry is used without confirmation from the store; 0 = not at all. */
  readonly maxStaleMs: number
  /** Absent keys are cached separately, so that invented keys cannot evict known ones. */
  readonly absentEntriesMax: number
  readonly absentTtlMs: number
  readonly storeConnection: Readonly<StoreConnectionState>
  load(key: string): Promise<Value | undefined>
  /** What other processes have cached, for when the store is unreachable; undefined = there are none. */
  readonly recall?: ((key: string) => Promise<Value | undefined>) | undefined
  /** Called with the loaded value, and when its load began. */
  readonly onLoaded?: ((key: string, value: Value, begunAt: MonotonicMs) => void) | undefined
  /** Whether a key is known to have existed; if so, its absence is final. */
  hasChanged(key: string): boolean
  /** For time spans. */
  readonly monotonic: MonotonicClock
  report(result: LookUpResult): void
}

/** Caches what was loaded; concurrent callers of the same key share one load. */
interface LoadingCache<Value> {
  /**
   * The value, synchronously if it is cached or known to be absent.
   * @throws GatehouseError `store-unavailable` if the key is not cached and the store is unreachable
   */
  get(key: string): Value | undefined | Promise<Value | undefined>
  /**
   * Drops a key that has changed, and discards the result of a load that has begun. If the key was cached, it is
   * loaded again in the background: a revocation is then known even if the store becomes unreachable.
   * @returns what was cached
   */
  reload(key: string): Value | undefined
  /** Replaces the entry of a key. */
  set(key: string, value: Value): void
  clear(): void
}

interface Entry<Value> {
  readonly value: Value
  readonly loadedAt: MonotonicMs
}

interface Absence {
  readonly loadedAt: MonotonicMs
  /** The key once existed: an ID is never reused. */
  readonly isGone: boolean
}

interface Load<Value> {
  readonly promise: Promise<Value | undefined>
}

/** How many entries are loaded in the background at the same time: after an outage all of them are due together. */
const refreshesMax = 64

export function createLoadingCache<Value extends object>(
  options: LoadingCacheOptions<Value>,
): LoadingCache<Value> {
  const {
    ttlMs,
    maxStaleMs,
    absentTtlMs,
    storeConnection,
    load,
    hasChanged,
    monotonic,
    report,
    recall,
    onLoaded,
  } = options
  const entries = createLru<Entry<Value>>(options.entriesMax)
  const absences = createLru<Absence>(options.absentEntriesMax)
  const loads = new Map<string, Load<Value>>()
  /** Cached keys that have changed, to be loaded in the background. */
  const due = new Set<string>()
  let refreshes = 0

  function get(key: string): Value | undefined | Promise<Value | undefined> {
    const now = monotonic()
    const entry = entries.get(key)
    if (entry === undefined) return getUncached(key, now)
    if (storeConnection.isUp && now - entry.loadedAt < ttlMs) {
      report('hit')
      return entry.value
    }
    // Each reading of the change log confirms what it does not drop, so the age counts from the last one.
    const isWithinMaxStale = now - Math.max(entry.loadedAt, storeConnection.readAt) < maxStaleMs
    return isWithinMaxStale ? serveAndRefresh(key, entry) : getUncached(key, now)
  }

  /** For a key without a usable entry: known to be absent, or loaded now. */
  function getUncached(key: string, now: MonotonicMs): undefined | Promise<Value | undefined> {
    const absence = absences.get(key)
    if (absence !== undefined && isKnownAbsent(absence, now)) {
      report('negative_hit')
      return undefined
    }
    report('miss')
    const current = loads.get(key)
    if (current) return current.promise
    if (!storeConnection.isUp && !recall) throw new GatehouseError('store-unavailable')
    return startLoad(key).promise
  }

  function isKnownAbsent({ loadedAt, isGone }: Absence, now: MonotonicMs): boolean {
    return now - loadedAt < absentTtlMs || (isGone && !storeConnection.isUp)
  }

  function serveAndRefresh(key: string, { value }: Entry<Value>): Value {
    report(storeConnection.isUp ? 'hit' : 'stale')
    if (storeConnection.isUp && refreshes < refreshesMax && !loads.has(key)) refresh(key)
    return value
  }

  function refresh(key: string): void {
    refreshes++
    const done = () => {
      refreshes--
      refreshDue()
    }
    startLoad(key).promise.then(done, done)
  }

  function refreshDue(): void {
    // In an outage nothing is loaded in the background: a key is loaded when it is next requested.
    if (!storeConnection.isUp) due.clear()
    for (const key of due) {
      if (refreshes >= refreshesMax) return
      due.delete(key)
      if (!loads.has(key)) refresh(key)
    }
  }

  function startLoad(key: string): Load<Value> {
    const startedAt = monotonic()
    const promise = loadIfUp(key).then(acceptLoaded, recallOnOutage)
    const current: Load<Value> = { promise }
    loads.set(key, current)
    return current

    function acceptLoaded(value: Value | undefined): Value | undefined | Promise<Value | undefined> {
      // The key was dropped during this load, so the value may be outdated: load it again.
      if (loads.get(key) !== current) return (loads.get(key) ?? startLoad(key)).promise
      loads.delete(key)
      const loadedAt = monotonic()
      if (value === undefined) {
        entries.delete(key)
        absences.set(key, { loadedAt, isGone: absences.get(key)?.isGone || hasChanged(key) })
      } else {
        entries.set(key, { value, loadedAt })
        onLoaded?.(key, value, startedAt)
      }
      return value
    }

    /** What other processes have cached is no newer than the last reading of the change log. */
    async function recallOnOutage(error: unknown): Promise<Value> {
      const loadedAt = storeConnection.readAt
      const isTooOld = monotonic() - loadedAt >= maxStaleMs
      const known = isStoreUnavailable(error) && !isTooOld ? await recall?.(key) : undefined
      const isDropped = loads.get(key) !== current
      if (!isDropped) loads.delete(key)
      if (known === undefined || isDropped) throw error
      entries.set(key, { value: known, loadedAt })
      return known
    }
  }

  async function loadIfUp(key: string): Promise<Value | undefined> {
    if (!storeConnection.isUp) throw new GatehouseError('store-unavailable')
    return load(key)
  }

  function drop(key: string): void {
    entries.delete(key)
    absences.delete(key)
    loads.delete(key)
  }

  return {
    get,
    reload: (key) => {
      const known = entries.get(key)?.value
      if (known !== undefined || absences.get(key) !== undefined) due.add(key)
      drop(key)
      refreshDue()
      return known
    },
    set: (key, value) => {
      drop(key)
      entries.set(key, { value, loadedAt: monotonic() })
    },
    clear: () => {
      due.clear()
      entries.clear()
      absences.clear()
      loads.clear()
    },
  }
}
