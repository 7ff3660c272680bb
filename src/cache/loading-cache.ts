import { LRUCache } from 'lru-cache'

export type LookUp = 'hit' | 'negative_hit' | 'miss'

export interface LoadingCacheOptions<Value> {
  readonly entriesMax: number
  readonly ttlMs: number
  /** What does not exist is kept apart, so that made-up keys cannot push out known ones. */
  readonly absentEntriesMax: number
  readonly absentTtlMs: number
  load(key: string): Promise<Value | undefined>
  readonly clock: () => number
  /** Told of every look-up. */
  report(result: LookUp): void
}

/** Keeps what was loaded; callers that want the same key at the same time share one load. */
export interface LoadingCache<Value> {
  /** At once where it is known, also that it does not exist; else a promise. */
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

export function createLoadingCache<Value extends object>(
  options: LoadingCacheOptions<Value>,
): LoadingCache<Value> {
  const { ttlMs, absentTtlMs, load, clock, report } = options
  const entries = new LRUCache<string, Entry<Value>>({ max: options.entriesMax })
  const absences = new LRUCache<string, { readonly loadedAt: number }>({ max: options.absentEntriesMax })
  const loads = new Map<string, Load<Value>>()

  function get(key: string): Value | undefined | Promise<Value | undefined> {
    const entry = entries.get(key)
    const now = clock()
    if (entry !== undefined && now - entry.loadedAt < ttlMs) {
      report('hit')
      return entry.value
    }
    const absence = absences.get(key)
    if (absence !== undefined && now - absence.loadedAt < absentTtlMs) {
      report('negative_hit')
      return undefined
    }
    report('miss')
    return (loads.get(key) ?? startLoad(key)).promise
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
      if (value === undefined) absences.set(key, { loadedAt })
      else entries.set(key, { value, loadedAt })
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
