import type { Clock } from '#platform/clock.ts'
import { isStoreUnavailable } from '#platform/errors/gatehouse-error.ts'
import type { ImportedKeyStore } from '#store/imported-keys.ts'
import { digestText } from '#store/keys.ts'
import { createLru } from '../cache/lru.ts'
import type { Directory } from '../principal.ts'

/** The accounts of keys that were made elsewhere, by the digest of the key. */
export interface ImportedKeys {
  /** Whether it is known that there is no imported key at all. */
  hasNone(): boolean
  /** Whether there is any. */
  hasAny(): Promise<boolean>
  /** The cached account ID; `absent` = there is no such key; undefined = it has to be looked up. */
  find(digest: Uint8Array): string | 'absent' | undefined
  /** @throws GatehouseError `store-unavailable` */
  lookUp(digest: Uint8Array): Promise<string | undefined>
  /** Drops the account of a key that it does not have any more. */
  forget(digest: Uint8Array): void
}

export interface ImportedKeysOptions {
  readonly store: Pick<ImportedKeyStore, 'findImportedKey' | 'hasImportedKeys'>
  readonly directory: Pick<Directory, 'version'>
  /** How long it is cached that there is no such key. */
  readonly negativeTtlMs: number
  /** For spans. */
  readonly monotonic: Clock
}

/** Entries have one length, some 250 bytes: together at most 25 MiB and 2.5 MiB. */
const knownMax = 100_000
const absentMax = 10_000
/** How often it is read at most whether there are any. */
const anyIntervalMs = 1_000

/** The accounts of imported keys, cached in the process: also which keys there are not. */
export function createImportedKeys(options: ImportedKeysOptions): ImportedKeys {
  const { store, directory, negativeTtlMs, monotonic } = options
  const known = createLru<{ readonly accountId: string }>(knownMax)
  const absent = createLru<{ readonly until: number }>(absentMax)
  const loads = new Map<string, Promise<string | undefined>>()
  let any: { readonly is: boolean; readonly version: object; readonly until: number } | undefined

  /** Read again only after a change of some account. */
  async function hasAny(): Promise<boolean> {
    const version = directory.version()
    if (any && (version === undefined || any.version === version || monotonic() < any.until)) return any.is
    if (version === undefined) return false
    try {
      const is = await store.hasImportedKeys()
      any = { is, version, until: monotonic() + anyIntervalMs }
      return is
    } catch (error) {
      if (isStoreUnavailable(error)) return any?.is ?? false
      throw error
    }
  }

  async function load(digest: Uint8Array, text: string): Promise<string | undefined> {
    const accountId = await store.findImportedKey(digest)
    if (accountId === undefined) absent.set(text, { until: monotonic() + negativeTtlMs })
    else known.set(text, { accountId })
    return accountId
  }

  return {
    hasNone: () => {
      const version = directory.version()
      return any?.is === false && (any.version === version || monotonic() < any.until)
    },
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
