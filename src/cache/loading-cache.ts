import { GatehouseError } from '../errors.ts'
import type { Contact } from './contact.ts'
import { createLru } from './lru.ts'

/** `stale`: served past its time, as the store is out of reach. */
export type LookUp = 'hit' | 'negative_hit' | 'miss' | 'stale'

export interface LoadingCacheOptions<Value> {
  readonly entriesMax: number
  /** After how long an entry is loaded again, by the way. */
  readonly ttlMs: number
  /** How long an entry is good without the store's word that it is. */
  readonly maxStaleMs: number
  /** What does not exist is kept apart, so that made-up keys cannot push out known ones. */
  readonly absentEntriesMax: number
  readonly absentTtlMs: number
  readonly contact: Readonly<Contact>
  load(key: string): Promise<Value | undefined>
  readonly clock: () => number
  /** Told of every look-up. */
  report(result: LookUp): void
}

/** Keeps what was loaded; callers that want the same key at the same time share one load. */
export interface LoadingCache<Value> {
  /**
   * At once where it is known, also that it does not exist; else a promise.
   * @throws GatehouseError `store-unavailable` where it is not known and the store is out of reach
   */
  get(key: string): Value | undefined | Promise<Value | undefined>
  /** Forgets a key: no load that began before this is kept, nor handed to anyone. */
  drop(key: string): void
  clear(): void
}

interface Entry<Value> {
  readonly value: Value
  readonly loadedAt: number
}

interface Load<Value> {
  readonly promise: Promise<Value | undefined>
}

/** How many entries are loaded again by the way at the same time: after an outage all are due at once. */
const refreshesMax = 64

export function createLoadingCache<Value extends object>(
  options: LoadingCacheOptions<Value>,
): LoadingCache<Value> {
  const { ttlMs, maxStaleMs, absentTtlMs, contact, load, clock, report } = options
  const entries = createLru<Entry<Value>>(options.entriesMax)
  const absences = createLru<{ readonly loadedAt: number }>(options.absentEntriesMax)
  const loads = new Map<string, Load<Value>>()
  let refreshes = 0

  function get(key: string): Value | undefined | Promise<Value | undefined> {
    const now = clock()
    const entry = entries.get(key)
    if (entry !== undefined) {
      if (now - entry.loadedAt < ttlMs) {
        report('hit')
        return entry.value
      }
      // The change log vouches for what it has not dropped: as long as it is read, and for a while after.
      if (now - Math.max(entry.loadedAt, contact.confirmedAt) < maxStaleMs) return serveAndRefresh(key, entry)
    }
    const absence = absences.get(key)
    if (absence !== undefined && now - absence.loadedAt < absentTtlMs) {
      report('negative_hit')
      return undefined
    }
    report('miss')
    const current = loads.get(key)
    if (current) return current.promise
    if (!contact.isUp) throw new GatehouseError('store-unavailable')
    return startLoad(key).promise
  }

  function serveAndRefresh(key: string, { value }: Entry<Value>): Value {
    report(contact.isUp ? 'hit' : 'stale')
    if (contact.isUp && refreshes < refreshesMax && !loads.has(key)) {
      refreshes++
      const done = () => {
        refreshes--
      }
      startLoad(key).promise.then(done, done)
    }
    return value
  }

  function startLoad(key: string): Load<Value> {
    const promise = load(key).then(keep, fail)
    const current: Load<Value> = { promise }
    loads.set(key, current)
    return current

    function keep(value: Value | undefined): Value | undefined | Promise<Value | undefined> {
      // The key was dropped while this was under way: it may be what was true before. Ask again.
      if (loads.get(key) !== current) return (loads.get(key) ?? startLoad(key)).promise
      loads.delete(key)
      const loadedAt = clock()
      if (value === undefined) {
        entries.delete(key)
        absences.set(key, { loadedAt })
      } else entries.set(key, { value, loadedAt })
      return value
    }

    function fail(error: unknown): never {
      if (loads.get(key) === current) loads.delete(key)
      throw error
    }
  }

  return {
    get,
    drop: (key) => {
      entries.delete(key)
      absences.delete(key)
      loads.delete(key)
    },
    clear: () => {
      entries.clear()
      absences.clear()
      loads.clear()
    },
  }
}
