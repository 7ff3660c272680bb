import type { Test } from 'tap'
import { createDirectory, type DirectoryOptions } from '#identity/cache/cached-directory.ts'
import type { LookUpResult } from '#identity/cache/loading-cache.ts'
import { StoreConnectionState } from '#identity/cache/store-connection.ts'
import type { Change, LoggedChange } from '#store/changes.ts'
import { now } from '../../store/samples.ts'
import { newSqlitePlace } from '../../store/sqlite/place.ts'

/** A change as it is heard of. */
export function logged(change: Change, at = now): LoggedChange {
  return { change, position: 1, at }
}

/** A directory on a real store, and what it goes by. */
export async function openDirectory(t: Test, options: Partial<DirectoryOptions> = {}) {
  const store = await (await newSqlitePlace(t)).open()
  const time = { now }
  const reports: LookUpResult[] = []
  const storeConnection = { ...new StoreConnectionState(), isUp: true, completeSince: now }
  const directory = createDirectory({
    store,
    storeConnection,
    entriesMax: 100,
    ttlMs: 60_000,
    negativeTtlMs: 5_000,
    maxStaleMs: 600_000,
    tokenLifetimeMs: 600_000,
    clockToleranceMs: 0,
    requireSecondFactor: 'nobody',
    clock: () => time.now,
    monotonic: () => time.now,
    report: (result) => reports.push(result),
    confirm: async () => {},
    catchUp: async () => {},
    refresh: () => {},
    ...options,
  })
  return { store, contact: storeConnection, directory, reports, time }
}
