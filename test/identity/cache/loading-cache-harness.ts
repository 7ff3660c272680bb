import {
  createLoadingCache,
  type LoadingCacheOptions,
  type LookUpResult,
} from '#identity/cache/loading-cache.ts'
import { StoreConnectionState } from '#identity/cache/store-connection.ts'

export interface Value {
  readonly text: string
}

/** A load that has begun, to be ended by the test. */
interface PendingLoad {
  readonly key: string
  end(text: string | undefined): void
  fail(error: Error): void
}

/** A cache whose loads end when the test says so, and whose clock stands still. */
export function createBench(options: Partial<LoadingCacheOptions<Value>> = {}) {
  const time = { now: 0 }
  const loads: PendingLoad[] = []
  const reports: LookUpResult[] = []
  const storeConnection = { ...new StoreConnectionState(), isUp: true }
  const cache = createLoadingCache<Value>({
    entriesMax: 100,
    ttlMs: 1_000,
    absentEntriesMax: 100,
    absentTtlMs: 100,
    maxStaleMs: 0,
    storeConnection,
    hasChanged: () => false,
    load: (key) =>
      new Promise((resolve, reject) => {
        const end = (text: string | undefined) => resolve(text === undefined ? undefined : { text })
        loads.push({ key, end, fail: reject })
      }),
    monotonic: () => time.now,
    report: (result) => reports.push(result),
    ...options,
  })

  /** The load that began last. */
  function lastLoad(): PendingLoad {
    const load = loads.at(-1)
    if (!load) throw new Error('nothing is loading')
    return load
  }

  /** Asks, and lets the load that this begins end at once. */
  async function getLoaded(key: string, text: string | undefined): Promise<Value | undefined> {
    const got = cache.get(key)
    if (got instanceof Promise) lastLoad().end(text)
    return got
  }

  return { cache, contact: storeConnection, time, loads, reports, lastLoad, getLoaded }
}
