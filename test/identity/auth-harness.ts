import { randomBytes } from 'node:crypto'
import type { Test } from 'tap'
import type { AccountInput } from '#accounts/account-input.ts'
import { type AuthOption, compileRoutes, type RouteOptions } from '#gateway/routes/compile.ts'
import type { Access } from '#identity/access.ts'
import { authenticate } from '#identity/authenticate.ts'
import { createDirectory, type DirectoryOptions } from '#identity/cache/cached-directory.ts'
import { openInvalidation } from '#identity/cache/invalidation.ts'
import { StoreConnectionState } from '#identity/cache/store-connection.ts'
import {
  ambiguousCredentials,
  noCredentials,
  withAuthorization,
  withSecretKey,
} from '#identity/credentials.ts'
import type { Decision } from '#identity/decision.ts'
import { createSecretKeyScheme } from '#identity/secret-key.ts'
import { createBearerScheme } from '#identity/tokens/bearer.ts'
import {
  createRefreshTokens,
  createSessionId,
  openAcknowledgements,
} from '#identity/tokens/refresh-tokens.ts'
import { createKeyPairCheck, createSessionStart } from '#identity/tokens/session-start.ts'
import { createSessions } from '#identity/tokens/sessions.ts'
import { createSealer } from '#platform/secrets/sealing.ts'
import type { Account } from '#store/accounts.ts'
import { portalKeyId } from '#store/sessions.ts'
import { actsOn } from '../accounts/account-actions.ts'
import { defaultOptions } from '../gateway/routes/default-options.ts'
import { usualCarriers } from '../setup/carriers.ts'
import { visitor } from '../store/samples.ts'
import { newSqlitePlace } from '../store/sqlite/place.ts'
import { createBench, newSigningKey, startS } from './tokens/forged-tokens.ts'

/** How a route of this kind is compiled. */
export function accessOf(auth: AuthOption, changes: Partial<RouteOptions> = {}): Access {
  const options = { ...defaultOptions, upstream: undefined, auth, ...changes }
  const [route] = compileRoutes([options], new Map())
  if (!route) throw new Error('no route')
  return route.access
}

type BenchOptions = Partial<Pick<DirectoryOptions, 'clockToleranceMs' | 'requireSecondFactor'>>

/** Everything that decides who is calling, on a real store; what a change ends is dropped as in a gateway. */
export async function openBench(
  t: Test,
  { clockToleranceMs = 0, requireSecondFactor = 'nobody' }: BenchOptions = {},
) {
  const place = await newSqlitePlace(t)
  const store = await place.open()
  const time = { nowMs: startS * 1_000 }
  const clock = () => time.nowMs
  // Also passes by itself, for those who wait for a reading.
  const monotonic = () => clock() + performance.now()
  const sealingKey = randomBytes(32)
  const { accessTokens, keyring } = createBench([newSigningKey('key')], { clock, clockToleranceMs })
  const storeConnection = { ...new StoreConnectionState(), isUp: true }
  const directory = createDirectory({
    store,
    storeConnection,
    entriesMax: 1_000,
    ttlMs: 3_600_000,
    negativeTtlMs: 5_000,
    maxStaleMs: 3_600_000,
    tokenLifetimeMs: 600_000 + clockToleranceMs,
    clockToleranceMs,
    requireSecondFactor,
    clock,
    monotonic,
    report: () => {},
    confirm: () => invalidation.confirm(),
    catchUp: () => invalidation.catchUp(),
    refresh: () => invalidation.refresh(),
  })
  const invalidation = openInvalidation({
    store,
    storeConnection,
    // Longer than any test: what others change is heard of when it must be.
    pollMs: 86_400_000,
    idlePollMs: 86_400_000,
    clock,
    monotonic,
    apply: directory.apply,
    clear: directory.clear,
    onStoreAnswer: () => {},
    onDelay: () => {},
    onFault: (error) => t.error(error),
  })
  t.teardown(invalidation.close)
  await invalidation.poll()
  // As if the change log were known to be complete for no past time; tests that need it otherwise say so.
  storeConnection.completeSince = Number.POSITIVE_INFINITY
  const schemes = {
    secretKey: createSecretKeyScheme(directory, clock),
    bearer: createBearerScheme(accessTokens, directory, clock),
  }
  const keyOptions = { sealer: createSealer(sealingKey), reveal: false, prefix: 'gate', clock }
  const { accounts, keys } = actsOn(store, keyOptions)
  const sessions = createSessions({
    store,
    accessTokens,
    refreshTokens: createRefreshTokens(sealingKey),
    refreshLifetimeMs: 86_400_000,
    refreshIdleMs: 86_400_000,
    reuseGraceMs: 10_000,
    startSession: createSessionStart({
      store,
      findOwner: createKeyPairCheck(store, clock),
      openMax: 100,
      admit: async () => {},
      clock,
    }),
    needsEnrolment: () => false,
    acknowledgements: openAcknowledgements({ store, onLoss: () => {} }),
    clock,
  })
  let created = 0

  /** An account with its keys and the tokens of a session. */
  async function newCaller(changes: Partial<AccountInput> = {}) {
    created++
    const input = { email: `user${created}@example.com`, firstName: 'Ada', lastName: 'L', role: 'User' }
    const caller = await accounts.create({ ...input, isVerified: true, ...changes })
    const { accessToken, refreshToken } = await sessions.start(caller.secretKey, caller.apiKey, visitor)
    return { ...caller, id: caller.account.id, accessToken, refreshToken }
  }

  /** An access token of a session that a sign-in to the portal has started. */
  async function newPortalToken(
    { id: accountId, role, roleEpoch, portal }: Account,
    owner: Pick<Account, 'id'> = { id: accountId },
  ) {
    const account = await store.findAccount(accountId)
    if (!account) throw new Error('no such account')
    const times = { createdAt: time.nowMs, expiresAt: time.nowMs + 86_400_000, idleMs: 86_400_000 }
    const session = { id: createSessionId(), keyId: portalKeyId(portal.epoch), openMax: 100, visitor }
    await store.startSession({ ...session, ...times, accountId }, account)
    return accessTokens.issue({ accountId: owner.id, sessionId: session.id, role, roleEpoch })
  }

  async function decide(auth: AuthOption, shown: Shown): Promise<Decision> {
    return authenticate(accessOf(auth), credentialsOf(shown), schemes)
  }

  /** What another process does: nothing of it is heard here. */
  const afar = actsOn(await place.open(), keyOptions)

  return {
    afar,
    store,
    contact: storeConnection,
    accounts,
    keys,
    sessions,
    accessTokens,
    keyring,
    directory,
    schemes,
    time,
    newCaller,
    newPortalToken,
    decide,
  }
}

/** The header fields that say who is calling. */
export interface Shown {
  readonly secretKey?: string
  readonly authorization?: string
  /** Whether each comes twice. */
  readonly isRepeated?: boolean
}

function credentialsOf({ secretKey, authorization, isRepeated }: Shown) {
  let credentials = noCredentials
  for (let times = isRepeated ? 2 : 1; times > 0; times--) {
    if (secretKey !== undefined) credentials = withSecretKey(credentials, secretKey, 'SecretKey')
    if (authorization !== undefined) {
      credentials =
        times < 2 && isRepeated
          ? ambiguousCredentials
          : withAuthorization(credentials, authorization, usualCarriers)
    }
  }
  return credentials
}

/** A decision in a word: who may pass as whom, or why not. */
export function wordOf(decision: Decision): string {
  if (decision.kind === 'refused') return decision.code
  return decision.principal === undefined ? 'anonymous' : decision.principal.scheme
}
