import type { KeyUses } from './accounts/key-uses.ts'
import { createSealer } from './accounts/sealing.ts'
import { type Authenticator, createAuthenticator } from './auth/authenticator.ts'
import { takeSessionStart } from './auth/limits.ts'
import type { Directory } from './auth/principal.ts'
import type { Limiter } from './auth/rate-limit.ts'
import { type Contact, createContact } from './cache/contact.ts'
import type { CachedDirectory } from './cache/directory.ts'
import type { SharedMemory } from './cache/instance-memory.ts'
import { type Invalidation, openInvalidation } from './cache/invalidation.ts'
import { rememberSigningKeys } from './cache/remember-signing-keys.ts'
import { type Clock, monotonicClock } from './clock.ts'
import type { Config } from './config/config.ts'
import { createDeciders } from './deciders.ts'
import { isOutOfReach, OperatorError, reasonOf } from './errors.ts'
import type { Log } from './log/log.ts'
import { createLookUpCount } from './metrics/look-ups.ts'
import type { Metrics } from './metrics/metrics.ts'
import type { Change, Store } from './store/store.ts'
import { isStoreFailure } from './store/store-failure.ts'
import type { Acknowledgements } from './tokens/acknowledgements.ts'
import { toSigningKey } from './tokens/configured-key.ts'
import { createKeyLoader, type KeyLoader } from './tokens/key-loader.ts'
import type { Keyring } from './tokens/keyring.ts'
import { createRefreshTokens } from './tokens/refresh-token.ts'
import { createSessions, type Sessions } from './tokens/sessions.ts'
import { createSigningKeys } from './tokens/signing-keys.ts'

/** All that decides who is calling, on top of one store. */
export interface Identity {
  readonly authenticator: Authenticator
  readonly sessions: Sessions
  readonly keyring: Keyring
  readonly directory: Directory
  /** The present state of the connection to the store. */
  readonly contact: Readonly<Contact>
  /** Whether the store answers, or the cache can serve for a while. */
  health(): IdentityHealth
  /** Stops listening to the store; the parts above go on with what they know. */
  close(): void
}

/** `degraded`: the store is out of reach, but known principals are served. */
export type IdentityHealth = 'ok' | 'degraded' | 'store-unavailable'

export interface IdentityOptions {
  readonly config: Config
  /** An open store; the caller closes it. */
  readonly store: Store
  readonly sealingKey: Buffer
  readonly keyUses: KeyUses
  readonly limiter: Pick<Limiter, 'take'>
  readonly acknowledgements: Acknowledgements
  readonly log: Log
  readonly metrics: Metrics
  /** Milliseconds since 1970. */
  readonly clock: Clock
  /** Shared with other workers; undefined = there are none. */
  readonly memory?: SharedMemory | undefined
  /** Told of a change, for others that depend on it, once caches and keys reflect it; undefined = any change. */
  onChange(change: Change | undefined): void
}

/** How often the change log is read: SQLite is a local file, Redis a server that others use too. */
const pollMs = { sqlite: 25, redis: 100 } as const
/** How long a start waits for the store before it goes on without it. */
const firstContactMs = 500

/** Leaves nothing open if it throws. @throws OperatorError for an unreadable key; GatehouseError without the store */
export async function openIdentity(options: IdentityOptions): Promise<Identity> {
  const { config, store, sealingKey, keyUses, acknowledgements, limiter, metrics, clock, memory, onChange } =
    options
  const contact = createContact()
  contact.readAt = memory?.lastReadAt ?? contact.readAt
  const { keyring, verified, directory, accessTokens, schemes } = createDeciders({
    config,
    store,
    contact,
    clock,
    monotonic: monotonicClock,
    memory,
    report: createLookUpCount(metrics),
    confirm: async () => {
      await invalidation.confirm()
      await keyLoader.settled()
    },
    catchUp: async () => {
      await invalidation.catchUp()
      // A signing key that was retired meanwhile; where the store is out of reach, the known ones count.
      await keyLoader.settled().catch(throwUnlessOutOfReach)
    },
  })
  const keyLoader = createOwnKeyLoader(options, keyring, () => {
    verified.clear()
    directory.outdate()
    onChange({ kind: 'signing-keys' })
  })
  const invalidation = openOwnInvalidation(options, { contact, directory, keyLoader })
  try {
    await loadFirst(options, keyLoader)
    await invalidation.poll()
  } catch (error) {
    invalidation.close()
    throw error
  }

  const refreshTokens = createRefreshTokens(sealingKey)
  return {
    authenticator: createAuthenticator({ schemes, directory, clock }),
    sessions: createSessions({
      store,
      accessTokens,
      refreshTokens,
      ...config.tokens,
      openMax: config.sessionsMax,
      admit: (accountId) => takeSessionStart(limiter, accountId),
      acknowledgements,
      keyUses,
      clock,
    }),
    keyring,
    directory,
    contact,
    health: () => healthOf(keyring, contact, monotonicClock() - config.cache.maxStaleMs),
    close: invalidation.close,
  }
}

function throwUnlessOutOfReach(error: unknown): void {
  if (!isOutOfReach(error)) throw error
}

/** @param staleAt a cache that was last confirmed then, or before, is too old; on the monotonic clock */
function healthOf(keyring: Keyring, contact: Contact, staleAt: number): IdentityHealth {
  if (!keyring.isLoaded()) return 'store-unavailable'
  if (contact.isUp) return 'ok'
  return contact.readAt > staleAt ? 'degraded' : 'store-unavailable'
}

function createOwnKeyLoader(
  { config: { tokens }, store, memory, sealingKey, log, clock }: IdentityOptions,
  keyring: Keyring,
  onReplaced: () => void,
): KeyLoader {
  const { algorithm } = tokens
  return createKeyLoader({
    keyring,
    signingKeys: createSigningKeys({
      store: memory ? rememberSigningKeys(store, memory) : store,
      sealer: createSealer(sealingKey),
      algorithm,
      clock,
    }),
    configured: tokens.keys.map(toSigningKey),
    algorithm,
    log,
    clock,
    onReplaced,
  })
}

/** The gateway starts even if Redis is out of reach, but not if its data or its signing keys cannot be read. */
async function loadFirst({ config, store, memory }: IdentityOptions, keyLoader: KeyLoader): Promise<void> {
  if (config.store.driver === 'sqlite') return keyLoader.load()
  const unready: unknown = await store.ready(firstContactMs).then(
    () => undefined,
    (error: unknown) => error,
  )
  // A worker that takes the place of another serves the callers that are known.
  if (isRefusal(unready) && memory?.lastReadAt === undefined) throw unready
  if (config.tokens.keys.length > 0) return keyLoader.load()
  if (unready !== undefined && !memory) return
  await keyLoader.load().catch(throwUnlessOutOfReach)
}

/** Whether a store that answers is none that this program can use. */
function isRefusal(unready: unknown): boolean {
  return unready instanceof OperatorError && isStoreFailure(unready.cause, 'newer')
}

interface Kept {
  readonly contact: Contact
  readonly directory: CachedDirectory
  readonly keyLoader: KeyLoader
}

/** Keeps caches and keys true to the store. */
function openOwnInvalidation(
  { config, store, memory, log, metrics, clock, onChange }: IdentityOptions,
  { contact, directory, keyLoader }: Kept,
): Invalidation {
  const reportContact = createContactReport(log, metrics)
  const reportFault = createFaultReport(log)
  return openInvalidation({
    store,
    contact,
    pollMs: pollMs[config.store.driver],
    clock,
    apply: (logged) => {
      directory.apply(logged)
      if (logged.change.kind === 'signing-keys') keyLoader.reload()
      else onChange(logged.change)
    },
    clear: (why) => {
      if (why === 'start') memory?.watch()
      else memory?.clear()
      directory.clear()
      keyLoader.reload()
      onChange(undefined)
    },
    onContact: (error) => {
      reportContact(error)
      if (!contact.isUp) return
      reportFault(undefined)
      keyLoader.catchUp()
    },
    onDelay: (delayMs) => metrics.revocationDelay.observe(delayMs / 1_000),
    onFault: reportFault,
  })
}

/**
 * Logs once each that the store is gone, that it has come back without its data or with that of a newer program, and
 * that it is back.
 */
function createContactReport(log: Log, metrics: Metrics): (error: unknown) => void {
  let wasUp: boolean | undefined
  let wasLost = false
  return (err) => {
    const loss = isStoreFailure(err, 'lost', 'newer') ? err.cause.message : undefined
    const isUp = err === undefined
    metrics.storeUp.set(Number(isUp))
    if (isUp && wasUp === false) log.info('the store answers again')
    if (loss !== undefined && !wasLost) log.error({ err }, loss)
    else if (!isUp && wasUp !== false) log.error({ err }, 'the store does not answer')
    wasUp = isUp
    // A loss is reported once, even if the store was unreachable in between.
    wasLost = loss !== undefined || (wasLost && !isUp)
  }
}

/** Says each fault once, until the log of changes has been read without it: where it stays, that is read all the time. */
function createFaultReport(log: Log): (error: unknown) => void {
  let told: string | undefined
  return (err) => {
    const reason = err === undefined ? undefined : reasonOf(err)
    if (reason !== undefined && reason !== told) log.error({ err }, 'a change of the store cannot be applied')
    told = reason
  }
}
