import { createSealer } from './accounts/sealing.ts'
import { openSealingKey } from './accounts/sealing-key.ts'
import { createBearerScheme } from './auth/bearer.ts'
import type { Scheme } from './auth/scheme.ts'
import { createSecretKeyScheme } from './auth/secret-key.ts'
import { createDirectory } from './cache/directory.ts'
import { openInvalidation } from './cache/invalidation.ts'
import { createVerifiedTokens } from './cache/verified-tokens.ts'
import type { Config } from './config/config.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics/metrics.ts'
import type { SchemeName } from './routes/route.ts'
import { openStore } from './store/open.ts'
import type { Change } from './store/store.ts'
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
  /** Whether somebody who is not known yet could be told from a stranger now. */
  canDecide(): boolean
  close(): Promise<void>
}

export interface IdentityOptions {
  readonly config: Config
  readonly log: Log
  readonly metrics: Metrics
  /** Milliseconds since 1970. */
  readonly clock: () => number
}

/** How often the change log is read: a file next door, or a server that others ask too. */
const pollMs = { sqlite: 25, redis: 250 } as const
/** How long a start waits for the store before it goes on without. */
const firstContactMs = 500

/** @throws OperatorError where the sealing key, the database or a signing key cannot be had */
export async function openIdentity({ config, log, metrics, clock }: IdentityOptions): Promise<Identity> {
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
  const directory = createDirectory({
    store,
    ...config.cache,
    clock,
    report: (result) => metrics.keyCache.inc({ result }),
  })
  const accessTokens = createAccessTokens({ keyring, verified, ...config.tokens, clock })
  let isUp: boolean | undefined

  async function loadKeys(): Promise<void> {
    keyring.replace(
      config.tokens.keys.length > 0 ? config.tokens.keys.map(toSigningKey) : await signingKeys.load(),
    )
    verified.clear()
  }

  function reloadKeys(): void {
    loadKeys().catch((err: unknown) => log.error({ err }, 'the signing keys cannot be loaded'))
  }

  function apply(change: Change): void {
    directory.apply(change)
    if (change.kind === 'signing-keys') reloadKeys()
  }

  function clear(): void {
    directory.clear()
    if (keyring.isLoaded()) reloadKeys()
  }

  function onContact(isAnswering: boolean, err?: unknown): void {
    metrics.storeUp.set(Number(isAnswering))
    if (isAnswering && isUp === false) log.info('the store answers again')
    if (!isAnswering && isUp !== false) log.error({ err }, 'the store does not answer')
    isUp = isAnswering
    if (isAnswering && !keyring.isLoaded()) reloadKeys()
  }

  const invalidation = openInvalidation({
    store,
    pollMs: pollMs[config.store.driver],
    apply,
    clear,
    onContact,
  })
  if (config.store.driver === 'sqlite') await loadKeys()
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
      clock,
    }),
    keyring,
    canDecide: () => isUp === true && keyring.isLoaded(),
    close: async () => {
      invalidation.close()
      await store.close()
    },
  }
}

function toSigningKey({ kid, use, material }: Config['tokens']['keys'][number]) {
  const signsFrom = use === 'sign' ? 0 : Number.POSITIVE_INFINITY
  return { kid, algorithm: material.algorithm, material, createdAt: 0, signsFrom }
}
