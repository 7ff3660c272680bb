import { GatehouseError, isStoreUnavailable } from '#platform/errors/gatehouse-error.ts'
import type { MonotonicClock, MonotonicMs } from '#platform/time.ts'
import { digestText, type ImportedKeyStore } from '#store/keys.ts'
import { createLru } from './cache/bounded-caches.ts'
import type { Directory } from './directory.ts'

/** The accounts of keys that were made elsewhere, by the digest of the key. */
export interface ImportedKeys {
  /** Whether it is known that there are no imported keys at all. */
  hasNone(): boolean
  /**
   * Whether there are any.
   * @throws GatehouseError `store-unavailable` if this was never known
   */
  hasAny(): Promise<boolean>
  /** The cached account ID; `absent` = there is no such key; undefined = it has to be looked up. */
  find(digest: Uint8Array): string | 'absent' | undefined
  /** @throws GatehouseError `store-unavailable` */
  lookUp(digest: Uint8Array): Promise<string | undefined>
  /** Drops what is cached about a key that its account does not have any more. */
  forget(digest: Uint8Array): void
}

export interface ImportedKeysOptions {
  readonly store: Pick<ImportedKeyStore, 'findImportedKey' | 'hasImportedKeys'>
  readonly directory: Pick<Directory, 'version'>
  /** How long the absence of a key is cached. */
  readonly negativeTtlMs: number
  readonly monotonic: MonotonicClock
}

/** Entries have a fixed length of about 250 bytes: at most 25 MiB and 2.5 MiB. */
const knownMax = 100_000
const absentMax = 10_000
/** Once imported keys exist, how long that is assumed without asking again, whatever has changed. */
const anyIntervalMs = 1_000

/** Caches the accounts of imported keys in the process, and which keys do not exist. */
export function createImportedKeys(options: ImportedKeysOptions): ImportedKeys {
  const { store, directory, negativeTtlMs, monotonic } = options
  const known = createLru<{ readonly accountId: string }>(knownMax)
  const absent = createLru<{ readonly until: MonotonicMs }>(absentMax)
  const loads = new Map<string, Promise<string | undefined>>()
  let latest: { readonly hasAny: boolean; readonly version: object; readonly until: MonotonicMs } | undefined
  let reading: { readonly version: object; readonly hasAny: Promise<boolean> } | undefined

  /** The absence of imported keys is only assumed until the next change, which may be the import of the first. */
  function isKnown(version: object | undefined): boolean {
    return (
      latest !== undefined && (latest.version === version || (latest.hasAny && monotonic() < latest.until))
    )
  }

  /**
   * Read again only after a change of some account, once for all callers. While the store is unreachable, the last
   * result counts.
   */
  async function hasAny(): Promise<boolean> {
    const version = directory.version()
    if (latest && (version === undefined || isKnown(version))) return latest.hasAny
    if (version === undefined) throw new GatehouseError('store-unavailable')
    try {
      if (reading?.version !== version) reading = { version, hasAny: store.hasImportedKeys() }
      const found = await reading.hasAny
      latest = { hasAny: found, version, until: monotonic() + anyIntervalMs }
      return found
    } catch (error) {
      if (latest && isStoreUnavailable(error)) return latest.hasAny
      throw error
    } finally {
      reading = undefined
    }
  }

  async function load(digest: Uint8Array, text: string): Promise<string | undefined> {
    const accountId = await store.findImportedKey(digest)
    if (accountId === undefined) {
      absent.set(text, { until: monotonic() + negativeTtlMs })
      return undefined
    }
    known.set(text, { accountId })
    // It would count again once the account is forgotten.
    absent.delete(text)
    return accountId
  }

  return {
    hasNone: () => latest?.hasAny === false && isKnown(directory.version()),
    hasAny,
    find: (digest) => {
      const text = digestText({ digest })
      const accountId = known.get(text)?.accountId
      if (accountId !== undefined) return accountId
      return monotonic() < (absent.get(text)?.until ?? Number.NEGATIVE_INFINITY) ? 'absent' : undefined
    },
    lookUp: (digest) => {
      const text = digestText({ digest })
      const current = loads.get(text)
      if (current) return current
      const loading = load(digest, text).finally(() => loads.delete(text))
      loads.set(text, loading)
      return loading
    },
    forget: (digest) => known.delete(digestText({ digest })),
  }
}
