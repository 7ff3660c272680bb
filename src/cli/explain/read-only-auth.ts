import { existsSync } from 'node:fs'
import type { Config } from '#config/config.ts'
import type { GateOptions } from '#gateway/gate/gate.ts'
import type { GatedRoute } from '#gateway/routes/route.ts'
import { authenticate, type Schemes } from '#identity/authenticate.ts'
import { StoreConnectionState } from '#identity/cache/store-connection.ts'
import type { RateLimiter } from '#identity/limits/rate-limiter.ts'
import { toSigningKey } from '#identity/tokens/keyring.ts'
import { createSigningKeys, type SigningKey } from '#identity/tokens/signing-keys.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { createSealer, keysOf } from '#platform/secrets/sealing.ts'
import { createSealingKeys } from '#platform/secrets/sealing-key.ts'
import { type Clock, monotonicClock } from '#platform/time.ts'
import { createAuthParts } from '#runtime/assembly/auth-parts.ts'
import { createGateChecks } from '#runtime/assembly/gate-parts.ts'
import { openStore } from '#store/open.ts'
import type { SigningKeyStore } from '#store/signing-keys.ts'
import type { Store } from '#store/store.ts'

/** The gateway's authentication schemes, reading its store without writing. */
export interface ReadOnlyAuth {
  /** They reject with `store-unavailable` if the store is unreachable. */
  readonly schemes: Schemes
  readonly clock: Clock
  close(): Promise<void>
}

const timeoutMs = 2_000
/** Why keys cannot be fetched is in the explanation. */
const silent = { info: () => {}, error: () => {} }

/** Opens the store only when a credential must be looked up: a malformed one needs no look-up. */
export function openReadOnlyAuth(config: Config, clock: Clock): ReadOnlyAuth {
  let opening: Promise<Store | undefined> | undefined

  function openStoreOnce(): Promise<Store | undefined> {
    opening ??= openExistingStore(config.store)
    return opening
  }

  const { keyring, schemes, issuers } = createAuthParts({
    config,
    fetching: { log: silent, isRefreshed: false, onFetched: () => {}, onAsked: () => {} },
    store: {
      findAccount: async (id) => (await openStoreOnce())?.findAccount(id),
      findSession: async (id) => (await openStoreOnce())?.findSession(id),
      findBlockedSubject: async (id) => (await openStoreOnce())?.findBlockedSubject(id),
      findImportedKey: async (digest) => (await openStoreOnce())?.findImportedKey(digest),
      hasImportedKeys: async () => (await openStoreOnce())?.hasImportedKeys() ?? false,
    },
    // Everything is looked up once: there is no cache to confirm.
    storeConnection: { ...new StoreConnectionState(), isUp: true },
    confirm: async () => {},
    catchUp: async () => {},
    refresh: () => {},
    clock,
    monotonic: monotonicClock,
    report: () => {},
  })
  const { secretKey, bearer, foreign } = schemes

  return {
    clock,
    schemes: {
      secretKey,
      bearer: {
        ...bearer,
        authenticate: async (credential) => {
          if (!keyring.isLoaded()) keyring.replace(await readSigningKeys(config, openStoreOnce, clock))
          return bearer.authenticate(credential)
        },
      },
      foreign,
    },
    close: async () => {
      issuers.close()
      await (await opening?.catch(() => undefined))?.close()
    },
  }
}

/** What a gate decides by, so that it counts and changes nothing. */
export function readOnlyGateOptions(
  schemes: Schemes,
  config: Config,
  clock: Clock,
): Omit<GateOptions<GatedRoute>, 'findRoute' | 'steps'> {
  return {
    authenticator: {
      decide: (access, credentials) => authenticate(access, credentials, schemes),
      // Everything is looked up when it is needed: there is no cache to bring up to date.
      confirm: async () => {},
    },
    limiter: unlimited,
    takePlanLimits: () => undefined,
    metrics: undefined,
    keyUses: { record: () => {} },
    ...createGateChecks({
      config,
      // Read only where a proof has a nonce.
      sealingKeys: () => keysOf(createSealingKeys(config.keys.sealingKey, { mayCreate: false }).keys),
      // A proof that is explained can still be used.
      proofReplays: { use: () => true },
      clock,
    }),
  }
}

const allowed = { isAllowed: true, remaining: 0, retryMs: 0, resetMs: 0 }

const unlimited: RateLimiter = {
  take: async () => allowed,
  takeInProcess: () => allowed,
  takeInInstance: undefined,
  processes: () => 1,
  beat: () => {},
  close: () => {},
}

/** The store of the config; undefined if its file does not exist yet: explain does not create it. */
async function openExistingStore(options: Config['store']): Promise<Store | undefined> {
  if (options.driver === 'sqlite' && !existsSync(options.path)) return undefined
  const store = await openStore(options, 'command')
  try {
    await store.ready(timeoutMs)
    return store
  } catch (cause) {
    await store.close()
    throw new GatehouseError('store-unavailable', { cause })
  }
}

async function readSigningKeys(
  config: Config,
  openStoreOnce: () => Promise<Store | undefined>,
  clock: Clock,
): Promise<readonly SigningKey[]> {
  if (config.tokens.keys.length > 0) return config.tokens.keys.map(toSigningKey)
  const store = await openStoreOnce()
  if (!store || (await store.listSigningKeys()).length === 0) return []
  const sealer = createSealer(createSealingKeys(config.keys.sealingKey, { mayCreate: false }).keys)
  const { algorithm } = config.tokens
  // A gateway would create a key of its algorithm if there is none: here it is not stored, and signs nothing.
  const readOnlyStore: Omit<SigningKeyStore, 'resealSigningKey'> = {
    listSigningKeys: store.listSigningKeys,
    addSigningKey: async () => false,
    retireSigningKey: async () => false,
  }
  return createSigningKeys({ store: readOnlyStore, sealer, algorithm, clock }).load()
}
