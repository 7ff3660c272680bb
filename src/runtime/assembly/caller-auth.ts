import { type Authenticator, createAuthenticator } from '#identity/authenticator.ts'
import type { CachedDirectory } from '#identity/cache/cached-directory.ts'
import { withCachedSigningKeys } from '#identity/cache/cached-records.ts'
import { type Invalidation, openInvalidation } from '#identity/cache/invalidation.ts'
import { StoreConnectionState } from '#identity/cache/store-connection.ts'
import type { Directory } from '#identity/directory.ts'
import type { Issuers } from '#identity/issuers/issuers.ts'
import type { AccessTokens } from '#identity/tokens/access-token.ts'
import { createKeyLoader, type KeyLoader } from '#identity/tokens/key-loader.ts'
import { type Keyring, toSigningKey } from '#identity/tokens/keyring.ts'
import { openRevocationFeed, type RevocationFeed } from '#identity/tokens/revocation-feed.ts'
import { createSigningKeys } from '#identity/tokens/signing-keys.ts'
import { createLookUpCounter } from '#ops/metrics/instruments.ts'
import { createConnectionLogger, createFaultLogger } from '#ops/store-logs.ts'
import { throwUnlessStoreUnavailable } from '#platform/errors/gatehouse-error.ts'
import { OperatorError } from '#platform/errors/operator-error.ts'
import { createSealer } from '#platform/secrets/sealing.ts'
import { type MonotonicMs, monotonicClock } from '#platform/time.ts'
import type { Change } from '#store/changes.ts'
import { isStoreFailure, type StoreHealth } from '#store/store-health.ts'
import { createAuthParts, createTokenIssuers, revocableForMs } from './auth-parts.ts'
import type { CallerParts } from './store-parts.ts'

/** Authentication of callers on top of one store. */
export interface CallerAuth extends ReturnType<typeof createTokenIssuers> {
  readonly authenticator: Authenticator
  readonly keyring: Keyring
  readonly accessTokens: AccessTokens
  readonly directory: Directory
  /** undefined = `tokens.revocationFeed` is not enabled. */
  readonly revocationFeed: RevocationFeed | undefined
  /** Foreign issuers and the state of their keys. */
  readonly issuers: Omit<Issuers, 'all' | 'close'>
  /** Whether tokens of a foreign issuer are accepted. */
  hasIssuer(name: string): boolean
  /** The current state of the connection to the store. */
  readonly storeConnection: Readonly<StoreConnectionState>
  /** Whether the store is reachable, or the cache can still serve. */
  health(): StoreHealth
  /** @param listener called on a change once caches and keys reflect it; undefined = any change. Replaces the last */
  onChange(listener: (change: Change | undefined) => void): void
  /** Stops listening to the store; the parts above continue with what they have. */
  close(): void
}

/**
 * How often the change log is read. Together with the time that a reading may take (250 ms, store/open.ts), it has to
 * stay well below `currentForMs` of identity/cache/store-connection.ts.
 */
const pollMs = 150
/**
 * How often it is read while the store announces changes and no request uses the caches, as each reading wakes an idle
 * process. A lost announcement has to be found within 500 ms, and cached data has to stay current for the next request
 * (docs/decisions/0008-change-log.md).
 */
const idlePollMs = 400
/** How long a start waits for the store before it continues without it. */
const initialConnectTimeoutMs = 500

/** Leaves nothing open if it throws. @throws OperatorError for an unreadable key; GatehouseError without the store */
export async function openCallerAuth(parts: CallerParts): Promise<CallerAuth> {
  const { config, store, metrics, log, clock, memory } = parts
  let tellChange: (change: Change | undefined) => void = () => {}
  const { algorithm, keys, issuer, revocationFeed: feed } = config.tokens
  const storeConnection = new StoreConnectionState()
  storeConnection.readAt = memory?.lastReadAt ?? storeConnection.readAt
  const { keyring, verified, directory, accessTokens, schemes, issuers } = createAuthParts({
    config,
    fetching: {
      log,
      isRefreshed: true,
      fetches: parts.keySetFetches,
      onFetched: (issuer, isSuccess) =>
        metrics.issuerFetches.inc({ issuer, outcome: isSuccess ? 'ok' : 'failed' }),
      onAsked: (issuer, outcome) => metrics.issuerQuestions.inc({ issuer, outcome }),
    },
    store,
    storeConnection,
    clock,
    monotonic: monotonicClock,
    memory,
    report: createLookUpCounter(metrics),
    confirm: async () => {
      await invalidation.confirm()
      await keyLoader.settled()
    },
    catchUp: async () => {
      await invalidation.catchUp()
      // A signing key may have been retired in the meantime; while the store is unreachable, the known ones count.
      await keyLoader.settled().catch(throwUnlessStoreUnavailable)
    },
    refresh: () => invalidation.refresh(),
  })
  const revocationFeed = feed.enabled
    ? openRevocationFeed({
        keyring,
        storeConnection,
        issuer,
        keptMs: revocableForMs(config),
        readersMax: feed.readersMax,
        onReaders: (difference) => metrics.revocationReaders.inc(difference),
        position: () => invalidation.position(),
        clock,
      })
    : undefined
  const keyLoader = createKeyLoader({
    keyring,
    signingKeys: createSigningKeys({
      store: memory ? withCachedSigningKeys(store, memory) : store,
      sealer: createSealer(parts.sealingKeys),
      algorithm,
      clock,
    }),
    configured: keys.map(toSigningKey),
    algorithm,
    log,
    clock,
    onReplaced: () => {
      verified.clear()
      directory.invalidateDecisions()
      revocationFeed?.restart('signing-keys')
      tellChange({ kind: 'signing-keys' })
    },
  })
  const invalidation = openCacheInvalidation(parts, {
    storeConnection,
    directory,
    keyLoader,
    revocationFeed,
    onChange: (change) => tellChange(change),
  })
  try {
    await loadInitialKeys(parts, keyLoader)
    await invalidation.poll()
  } catch (error) {
    invalidation.close()
    issuers.close()
    throw error
  }

  return {
    authenticator: createAuthenticator({ schemes, directory, clock }),
    ...createTokenIssuers(parts, accessTokens),
    keyring,
    accessTokens,
    directory,
    revocationFeed,
    issuers,
    hasIssuer: issuers.has,
    storeConnection,
    onChange: (listener) => {
      tellChange = listener
    },
    health: () => healthOf(keyring, storeConnection, monotonicClock() - config.cache.maxStaleMs),
    close: () => {
      invalidation.close()
      revocationFeed?.close()
      issuers.close()
    },
  }
}

/** @param staleAt a cache that was last confirmed at or before this time is too old; on the monotonic clock */
function healthOf(
  keyring: Keyring,
  storeConnection: StoreConnectionState,
  staleAt: MonotonicMs,
): StoreHealth {
  if (!keyring.isLoaded()) return 'store-unavailable'
  if (storeConnection.isUp) return 'ok'
  return storeConnection.readAt > staleAt ? 'degraded' : 'store-unavailable'
}

/** The gateway starts even if Redis is unreachable, but not if its data or signing keys cannot be read. */
async function loadInitialKeys({ config, store, memory }: CallerParts, keyLoader: KeyLoader): Promise<void> {
  if (config.store.driver === 'sqlite') return keyLoader.load()
  const readyError: unknown = await store.ready(initialConnectTimeoutMs).then(
    () => undefined,
    (error: unknown) => error,
  )
  // A worker that replaces another serves the cached callers.
  if (isUnsupportedStore(readyError) && memory?.lastReadAt === undefined) throw readyError
  if (config.tokens.keys.length > 0) return keyLoader.load()
  if (readyError !== undefined && !memory) return
  await keyLoader.load().catch(throwUnlessStoreUnavailable)
}

/** Whether the store is reachable, but cannot be used by this program. */
function isUnsupportedStore(readyError: unknown): boolean {
  return readyError instanceof OperatorError && isStoreFailure(readyError.cause, 'newer')
}

interface InvalidatedParts {
  readonly storeConnection: StoreConnectionState
  readonly directory: CachedDirectory
  readonly keyLoader: KeyLoader
  readonly revocationFeed: RevocationFeed | undefined
  onChange(change: Change | undefined): void
}

/** Keeps caches and keys consistent with the store. */
function openCacheInvalidation(
  { store, limiter, memory, log, metrics, clock }: CallerParts,
  { storeConnection, directory, keyLoader, revocationFeed, onChange }: InvalidatedParts,
): Invalidation {
  const logConnectionChange = createConnectionLogger(log, metrics)
  const logFaultOnce = createFaultLogger(log)
  return openInvalidation({
    store: {
      onChange: store.onChange,
      isListening: store.isListening,
      readChanges: (after) => {
        limiter.beat()
        return store.readChanges(after)
      },
    },
    storeConnection,
    pollMs,
    idlePollMs,
    clock,
    apply: (logged) => {
      directory.apply(logged)
      revocationFeed?.apply(logged)
      if (logged.change.kind === 'signing-keys') keyLoader.reload()
      else onChange(logged.change)
    },
    clear: (reason) => {
      if (reason === 'start') memory?.watch()
      else memory?.clear()
      directory.clear()
      keyLoader.reload()
      revocationFeed?.restart('gap')
      onChange(undefined)
    },
    onStoreAnswer: (error) => {
      logConnectionChange(error)
      if (!storeConnection.isUp) return
      logFaultOnce(undefined)
      keyLoader.catchUp()
      revocationFeed?.onRead()
    },
    onDelay: (delayMs) => metrics.revocationDelay.observe(delayMs / 1_000),
    onFault: logFaultOnce,
  })
}
