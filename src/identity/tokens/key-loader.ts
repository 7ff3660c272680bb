import { GatehouseError, isStoreUnavailable } from '#platform/errors/gatehouse-error.ts'
import { errorMessage } from '#platform/errors/operator-error.ts'
import type { Log } from '#platform/log/log.ts'
import type { Clock } from '#platform/time.ts'
import type { Algorithm } from './key-material.ts'
import type { Keyring } from './keyring.ts'
import { assertSigner, type SigningKey, type SigningKeys } from './signing-keys.ts'

/** Keeps a keyring up to date with its source of signing keys. */
export interface KeyLoader {
  /**
   * Loads the keys at the start.
   * @throws OperatorError if no key can sign; GatehouseError if the store does not answer
   */
  load(): Promise<void>
  /**
   * Loads the keys again, as they may have changed. A failure is logged; while the store is unreachable no key is used
   * any more, as any may be the one that was retired.
   */
  reload(): void
  /** To be called when the store is reachable again: loads what could not be loaded in the outage. */
  catchUp(): void
  /**
   * Resolves once all requested loads are done.
   * @throws GatehouseError `store-unavailable` if the store was unreachable at the last load
   */
  settled(): Promise<void>
}

interface KeyLoaderOptions {
  readonly keyring: Keyring
  readonly signingKeys: Pick<SigningKeys, 'read'>
  readonly algorithm: Algorithm
  /** The keys in the config; if there are any, the store is not asked. */
  readonly configured: readonly SigningKey[]
  readonly log: Log
  readonly clock: Clock
  /** Called when the keyring's keys may have changed. */
  onReplaced(): void
}

export function createKeyLoader(options: KeyLoaderOptions): KeyLoader {
  const { keyring, signingKeys, algorithm, configured, log, clock, onReplaced } = options
  /** The last requested load. Loads run one after another, so that the last to begin is the last to end. */
  let last: Promise<void> = Promise.resolve()
  let inFlight = 0
  /** How the last load failed. */
  let failure: 'out-of-reach' | 'other' | undefined
  /** The reason that was last logged: it is logged once, however often the load is retried. */
  let reported: string | undefined
  /** Keys that were reported as unreadable. */
  let reportedUnreadable: readonly string[] = []

  function replace(keys: readonly SigningKey[]): void {
    keyring.replace(keys)
    onReplaced()
  }

  function suspend(): void {
    keyring.suspend()
    onReplaced()
  }

  async function loadNow(): Promise<void> {
    if (configured.length > 0) return replace(configured)
    const found = await signingKeys.read()
    try {
      assertSigner(found, algorithm, clock())
    } catch (error) {
      // A retired key is dropped even if no signing key is left.
      if (keyring.isLoaded()) replace(found.keys)
      throw error
    }
    replace(found.keys)
    reportUnreadable(found.unreadable)
  }

  function reportUnreadable(kids: readonly string[]): void {
    for (const kid of kids) {
      if (!reportedUnreadable.includes(kid)) {
        log.error({ kid }, 'signing key cannot be decrypted with this sealing key; its tokens are rejected')
      }
    }
    reportedUnreadable = kids
  }

  function load(): Promise<void> {
    inFlight++
    const loading = last.then(loadNow)
    last = loading.then(recordSuccess, recordFailure).finally(() => {
      inFlight--
    })
    return loading
  }

  function recordSuccess(): void {
    failure = undefined
    reported = undefined
  }

  function recordFailure(error: unknown): void {
    failure = isStoreUnavailable(error) ? 'out-of-reach' : 'other'
  }

  function reload(): void {
    load().catch((err: unknown) => {
      if (isStoreUnavailable(err) && keyring.isLoaded()) suspend()
      if (errorMessage(err) !== reported) log.error({ err }, 'failed to load signing keys')
      reported = errorMessage(err)
    })
  }

  return {
    load,
    reload,
    catchUp: () => {
      // A load that failed for another reason would fail again until something in the store changes.
      const isDue = failure ? failure === 'out-of-reach' : !keyring.isLoaded()
      if (isDue && inFlight === 0) reload()
    },
    settled: async () => {
      await last
      if (failure === 'out-of-reach') throw new GatehouseError('store-unavailable')
    },
  }
}
