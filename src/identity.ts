import { type KeyUses, openKeyUses } from './accounts/key-uses.ts'
import { createSealer } from './accounts/sealing.ts'
import { openSealingKey } from './accounts/sealing-key.ts'
import { createBearerScheme } from './auth/bearer.ts'
import type { Directory } from './auth/principal.ts'
import { type Limiter, openLimiter } from './auth/rate-limit.ts'
import type { Scheme } from './auth/scheme.ts'
import { createSecretKeyScheme } from './auth/secret-key.ts'
import { createContact } from './cache/contact.ts'
import { createDirectory } from './cache/directory.ts'
import { openInvalidation } from './cache/invalidation.ts'
import { createVerifiedTokens } from './cache/verified-tokens.ts'
import type { Config } from './config/config.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics/metrics.ts'
import type { SchemeName } from './routes/route.ts'
import { openStore } from './store/open.ts'
import type { Change, Store } from './store/store.ts'
import { createAccessTokens } from './tokens/access-token.ts'
import { createKeyring, type Keyring } from './tokens/keyring.ts'
import { createRefreshTokens } from './tokens/refresh-token.ts'
import { createSessions, type Sessions } from './tokens/sessions.ts'
import { createSigningKeys } from './tokens/signing-keys.ts'

/** All that decides who is calling, on top of one store. */
export interface Identity {
  readonly schemes: Readonly<Record<SchemeName, Scheme>>
  readonly sessions: Sessions
  readonly keyring: Keyring
  readonly directory: Directory
  readonly limiter: Limiter
  readonly keyUses: KeyUses
  readonly store: Store
  readonly sealingKey: Uint8Array
  /** Whether the store answers, or what is known will do for a while. */
  health(): IdentityHealth
  close(): Promise<void>
}

/** `degraded`: the store is out of reach, known principals are served all the same. */
export type IdentityHealth = 'ok' | 'degraded' | 'store-unavailable'

export interface IdentityOptions {
  readonly config: Config
  readonly log: Log
  readonly metrics: Metrics
  /** Milliseconds since 1970. */
  readonly clock: () => number
  /** What others keep that a change concerns: told once the caches are rid of it; undefined = anything. */
  onChange(change: Change | undefined): void
}

/** How often the change log is read: a file next door, or a server that others ask too. */
const pollMs = { sqlite: 25, redis: 100 } as const
/** How long a start waits for the store before it goes on without. */
const firstContactMs = 500

/** @throws OperatorError where the sealing key, the database or a signing key cannot be had */
export async function openIdentity(options: IdentityOptions): Promise<Identity> {
  const { config, log, metrics, clock, onChange } = options
  const sealingKey = openSealingKey(config.keys.sealingKey, { mayMake: config.store.driver === 'sqlite' })
  const store = await openStore(config.store, 'request')
  const signingKeys = createSigningKeys({
    store,
    sealer: createSealer(sealingKey),
    algorithm: config.tokens.algorithm,
    clock,
  })
  const keyring = createKeyring(config.tokens.algorithm)
  const verified = createVerifiedTokens(config.cache.entriesMax)
  const contact = createContact()
  const directory = createDirectory({
    store,
    contact,
    ...config.cache,
    tokenLifetimeMs: config.tokens.accessLifetimeMs + config.tokens.clockToleranceMs,
    clock,
    report: (result) => metrics.keyCache.inc({ result }),
  })
  const accessTokens = createAccessTokens({ keyring, verified, ...config.tokens, clock })
  const limiter = openLimiter({ store, contact, clock })
  const keyUses = openKeyUses({ store, clock })

  async function loadKeys(): Promise<void> {
    keyring.replace(
      config.tokens.keys.length > 0 ? config.tokens.keys.map(toSigningKey) : await signingKeys.load(),
    )
    verified.clear()
  }

  function reloadKeys(): void {
    loadKeys().catch((err: unknown) => log.error({ err }, 'the signing keys cannot be loaded'))
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
      onChange(logged.change)
    },
    clear: () => {
      directory.clear()
      if (keyring.isLoaded()) reloadKeys()
      onChange(undefined)
    },
    onContact: (error) => {
      reportContact(error)
      if (contact.isUp && !keyring.isLoaded()) reloadKeys()
    },
    onDelay: (delayMs) => metrics.revocationDelay.observe(delayMs / 1_000),
  })
  if (config.store.driver === 'sqlite' || config.tokens.keys.length > 0) await loadKeys()
  else
    await store
      .ready(firstContactMs)
      .then(loadKeys)
      .catch(() => {})
  await invalidation.poll()

  return {
    schemes: {
      secretKey: createSecretKeyScheme(directory, clock),
      bearer: createBearerScheme(accessTokens, directory),
    },
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
    limiter,
    keyUses,
    store,
    sealingKey,
    health: () => {
      if (!keyring.isLoaded()) return 'store-unavailable'
      if (contact.isUp) return 'ok'
      return clock() - contact.confirmedAt < config.cache.maxStaleMs ? 'degraded' : 'store-unavailable'
    },
    close: async () => {
      invalidation.close()
      limiter.close()
      await keyUses.close()
      await store.close()
    },
  }
}

/** Says once that the store has gone, and once that it is back. */
function createContactReport(log: Log, metrics: Metrics): (error: unknown) => void {
  let wasUp: boolean | undefined
  return (err) => {
    const isUp = err === undefined
    metrics.storeUp.set(Number(isUp))
    if (isUp && wasUp === false) log.info('the store answers again')
    if (!isUp && wasUp !== false) log.error({ err }, 'the store does not answer')
    wasUp = isUp
  }
}

function toSigningKey({ kid, use, material }: Config['tokens']['keys'][number]) {
  const signsFrom = use === 'sign' ? 0 : Number.POSITIVE_INFINITY
  return { kid, algorithm: material.algorithm, material, createdAt: 0, signsFrom }
}
