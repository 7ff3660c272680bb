import type { KeyUses } from './accounts/key-uses.ts'
import { createSealer } from './accounts/sealing.ts'
import { type Authenticator, createAuthenticator } from './auth/authenticator.ts'
import { createBearerScheme } from './auth/bearer.ts'
import type { Directory } from './auth/principal.ts'
import { createSecretKeyScheme } from './auth/secret-key.ts'
import { type Contact, createContact } from './cache/contact.ts'
import { createDirectory } from './cache/directory.ts'
import { openInvalidation } from './cache/invalidation.ts'
import type { LookUp } from './cache/loading-cache.ts'
import { createVerifiedTokens } from './cache/verified-tokens.ts'
import type { Config } from './config/config.ts'
import { GatehouseError } from './errors.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics/metrics.ts'
import type { Change, Store } from './store/store.ts'
import { isStoreFailure } from './store/store-failure.ts'
import { createAccessTokens } from './tokens/access-token.ts'
import { createKeyring, type Keyring } from './tokens/keyring.ts'
import { createRefreshTokens } from './tokens/refresh-token.ts'
import { createSessions, type Sessions } from './tokens/sessions.ts'
import { createSigningKeys } from './tokens/signing-keys.ts'

/** All that decides who is calling, on top of one store. */
export interface Identity {
  readonly authenticator: Authenticator
  readonly sessions: Sessions
  readonly keyring: Keyring
  readonly directory: Directory
  /** Whether the store answers, at this moment. */
  readonly contact: Readonly<Contact>
  /** Whether the store answers, or what is known will do for a while. */
  health(): IdentityHealth
  /** Listens to the store no more; what it gave out goes on with what it knows. */
  close(): void
}

/** `degraded`: the store is out of reach, known principals are served all the same. */
export type IdentityHealth = 'ok' | 'degraded' | 'store-unavailable'

export interface IdentityOptions {
  readonly config: Config
  /** Open, and closed by whoever opened it. */
  readonly store: Store
  readonly sealingKey: Buffer
  readonly keyUses: KeyUses
  readonly log: Log
  readonly metrics: Metrics
  /** Milliseconds since 1970. */
  readonly clock: () => number
  /** What others keep that a change concerns: told once caches and keys are true to it; undefined = anything. */
  onChange(change: Change | undefined): void
}

/** How often the change log is read: a file next door, or a server that others ask too. */
const pollMs = { sqlite: 25, redis: 100 } as const
/** How long a start waits for the store before it goes on without. */
const firstContactMs = 500

/** @throws OperatorError where a signing key cannot be had; GatehouseError where the store does not answer; nothing is left open */
export async function openIdentity(options: IdentityOptions): Promise<Identity> {
  const { config, store, sealingKey, keyUses, log, metrics, clock, onChange } = options
  const signingKeys = createSigningKeys({
    store,
    sealer: createSealer(sealingKey),
    algorithm: config.tokens.algorithm,
    clock,
  })
  const keyring = createKeyring(config.tokens.algorithm, config.tokens.keys.length > 0 ? 'config' : 'store')
  const verified = createVerifiedTokens(config.cache.entriesMax)
  const contact = createContact()
  const directory = createDirectory({
    store,
    contact,
    ...config.cache,
    tokenLifetimeMs: config.tokens.accessLifetimeMs + config.tokens.clockToleranceMs,
    clockToleranceMs: config.tokens.clockToleranceMs,
    clock,
    report: createLookUpCount(metrics),
    confirm,
  })
  const accessTokens = createAccessTokens({ keyring, verified, ...config.tokens, clock })

  async function loadKeys(): Promise<void> {
    keyring.replace(
      config.tokens.keys.length > 0 ? config.tokens.keys.map(toSigningKey) : await signingKeys.load(),
    )
    verified.clear()
    directory.outdate()
  }

  /** The last loading of the keys that a change has asked for. */
  let reloading = Promise.resolve()
  let areKeysDue = false
  let reloads = 0

  function reloadKeys(): void {
    areKeysDue = false
    reloads++
    // One after another, so that the last that is begun is the last that is done.
    reloading = reloading
      .then(loadKeys)
      .then(
        () => onChange({ kind: 'signing-keys' }),
        (err: unknown) => {
          areKeysDue = isOutOfReach(err)
          log.error({ err }, 'the signing keys cannot be loaded')
        },
      )
      .finally(() => {
        reloads--
      })
  }

  async function confirm(): Promise<void> {
    await invalidation.confirm()
    await reloading
    if (areKeysDue) throw new GatehouseError('store-unavailable')
  }

  async function start(): Promise<void> {
    if (config.store.driver === 'sqlite' || config.tokens.keys.length > 0) await loadKeys()
    else
      await store
        .ready(firstContactMs)
        .then(loadKeys)
        .catch(() => {})
    await invalidation.poll()
  }

  const reportContact = createContactReport(log, metrics)
  const invalidation = openInvalidation({
    store,
    contact,
    pollMs: pollMs[config.store.driver],
    clock,
    apply: (logged) => {
      directory.apply(logged)
      if (logged.change.kind === 'signing-keys') reloadKeys()
      else onChange(logged.change)
    },
    clear: () => {
      directory.clear()
      if (keyring.isLoaded()) reloadKeys()
      onChange(undefined)
    },
    onContact: (error) => {
      reportContact(error)
      if (contact.isUp && reloads === 0 && (areKeysDue || !keyring.isLoaded())) reloadKeys()
    },
    onDelay: (delayMs) => metrics.revocationDelay.observe(delayMs / 1_000),
  })
  try {
    await start()
  } catch (error) {
    invalidation.close()
    throw error
  }

  return {
    authenticator: createAuthenticator(
      {
        secretKey: createSecretKeyScheme(directory, clock),
        bearer: createBearerScheme(accessTokens, directory),
      },
      directory,
      clock,
    ),
    sessions: createSessions({
      store,
      accessTokens,
      refreshTokens: createRefreshTokens(sealingKey),
      ...config.tokens,
      keyUses,
      clock,
    }),
    keyring,
    directory,
    contact,
    health: () => {
      if (!keyring.isLoaded()) return 'store-unavailable'
      if (contact.isUp) return 'ok'
      return clock() - contact.confirmedAt < config.cache.maxStaleMs ? 'degraded' : 'store-unavailable'
    },
    close: invalidation.close,
  }
}

/** The series of each result, found once. */
function createLookUpCount({ keyCache }: Metrics): (result: LookUp) => void {
  const counts = {
    hit: keyCache.of('hit'),
    negative_hit: keyCache.of('negative_hit'),
    miss: keyCache.of('miss'),
    stale: keyCache.of('stale'),
  }
  return (result) => {
    counts[result].value++
  }
}

function isOutOfReach(error: unknown): boolean {
  return error instanceof GatehouseError && error.code === 'store-unavailable'
}

/** Says once that the store has gone, once that it has come back without its data, and once that it is back. */
function createContactReport(log: Log, metrics: Metrics): (error: unknown) => void {
  let wasUp: boolean | undefined
  let wasLost = false
  return (err) => {
    const loss = isStoreFailure(err, 'lost') ? err.cause.message : undefined
    const isUp = err === undefined
    metrics.storeUp.set(Number(isUp))
    if (isUp && wasUp === false) log.info('the store answers again')
    if (loss !== undefined && !wasLost) log.error({ err }, loss)
    else if (!isUp && wasUp !== false) log.error({ err }, 'the store does not answer')
    wasUp = isUp
    // Out of reach in between, it is still the same loss.
    wasLost = loss !== undefined || (wasLost && !isUp)
  }
}

export function toSigningKey({ kid, use, material }: Config['tokens']['keys'][number]) {
  const signsFrom = use === 'sign' ? 0 : Number.POSITIVE_INFINITY
  return { kid, algorithm: material.algorithm, material, createdAt: 0, signsFrom }
}
