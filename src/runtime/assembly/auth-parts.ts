import type { Config } from '#config/config.ts'
import type { Schemes } from '#identity/authenticate.ts'
import { createVerifiedTokens, tokenDigest } from '#identity/cache/bounded-caches.ts'
import { createDirectory, type DirectoryOptions } from '#identity/cache/cached-directory.ts'
import { createImportedKeys, type ImportedKeysOptions } from '#identity/imported-keys.ts'
import { createForeignScheme } from '#identity/issuers/foreign.ts'
import { foreignClaimsBytes } from '#identity/issuers/foreign-claims.ts'
import { createForeignTokens } from '#identity/issuers/foreign-tokens.ts'
import { type IssuersOptions, openIssuers } from '#identity/issuers/issuers.ts'
import { takeSessionStart } from '#identity/limits/take-rate.ts'
import { needsSecondFactor } from '#identity/second-factor/second-factors.ts'
import { createSecretKeyScheme } from '#identity/secret-key.ts'
import { type AccessTokens, createAccessTokens } from '#identity/tokens/access-token.ts'
import { accessTokenClaimsBytes } from '#identity/tokens/access-token-claims.ts'
import { createBearerScheme } from '#identity/tokens/bearer.ts'
import { createClientTokens } from '#identity/tokens/client-tokens.ts'
import { createPortalTokens } from '#identity/tokens/issued-tokens.ts'
import { createKeyring } from '#identity/tokens/keyring.ts'
import { createRefreshTokens } from '#identity/tokens/refresh-tokens.ts'
import { createKeyPairCheck, createSessionStart } from '#identity/tokens/session-start.ts'
import { createSessions } from '#identity/tokens/sessions.ts'
import type { Account } from '#store/accounts.ts'
import type { CallerAuthConfig, CallerParts } from './store-parts.ts'

interface AuthPartsOptions
  extends Omit<
    DirectoryOptions,
    keyof Config['cache'] | 'tokenLifetimeMs' | 'clockToleranceMs' | 'requireSecondFactor' | 'store'
  > {
  readonly config: CallerAuthConfig
  /** How the keys of foreign issuers are fetched, and how issuers are asked about tokens. */
  readonly fetching: Pick<IssuersOptions, 'log' | 'isRefreshed' | 'onFetched' | 'onAsked' | 'fetches'>
  readonly store: DirectoryOptions['store'] & ImportedKeysOptions['store']
}

/**
 * The parts that authenticate a caller, for the gateway and for `explain`. The keyring is empty: the key loader fills
 * it. `issuers` must be closed.
 */
export function createAuthParts({ config, fetching, ...options }: AuthPartsOptions) {
  const { tokens, cache } = config
  const { clockToleranceMs } = tokens
  const { store, clock, monotonic } = options
  const cookieLifetimeMs = cookieLifetimeOf(config)
  const keyring = createKeyring(tokens.algorithm, tokens.keys.length > 0 ? 'config' : 'store')
  const verified = createVerifiedTokens(cache.entriesMax, accessTokenClaimsBytes)
  const directory = createDirectory({
    ...options,
    ...cache,
    tokenLifetimeMs: Math.max(tokens.accessLifetimeMs, cookieLifetimeMs ?? 0) + clockToleranceMs,
    clockToleranceMs,
    requireSecondFactor: config.portal.requireSecondFactor,
  })
  const accessTokens = createAccessTokens({ keyring, verified, ...tokens, cookieLifetimeMs, clock })
  const importedKeys = createImportedKeys({ store, directory, negativeTtlMs: cache.negativeTtlMs, monotonic })
  const verifiedForeign = createVerifiedTokens(cache.entriesMax, foreignClaimsBytes)
  const issuers = openIssuers({
    ...fetching,
    issuers: config.issuers,
    verified: verifiedForeign,
    clockToleranceMs,
    answersMax: cache.entriesMax,
    clock,
    monotonic,
    onReplaced: directory.invalidateDecisions,
  })
  const schemes: Schemes = {
    secretKey: createSecretKeyScheme(directory, clock, importedKeys),
    bearer: createBearerScheme(accessTokens, directory, clock),
    foreign: createForeignScheme({
      directory,
      tokens: createForeignTokens({
        issuers: issuers.all,
        ownIssuer: tokens.issuer,
        verified: verifiedForeign,
        clockToleranceMs,
        clock,
      }),
      isOwn: (token) => verified.get(tokenDigest(token)) !== undefined,
    }),
  }
  return { keyring, verified, directory, accessTokens, schemes, issuers }
}

/** undefined = there is no access cookie. */
function cookieLifetimeOf({ accessCookie }: Pick<CallerAuthConfig, 'accessCookie'>): number | undefined {
  return accessCookie.enabled ? accessCookie.lifetimeMs : undefined
}

/** How long after a revocation something that was issued before it would be accepted at most, if it went unnoticed. */
export function revocableForMs(config: CallerAuthConfig): number {
  const { accessLifetimeMs, clockToleranceMs } = config.tokens
  const longestMs = Math.max(accessLifetimeMs, cookieLifetimeOf(config) ?? 0, config.assertion.lifetimeMs)
  return longestMs + 2 * clockToleranceMs
}

/** What issues tokens, under one config. */
export function createTokenIssuers(parts: CallerParts, accessTokens: AccessTokens) {
  const { config, store, sealingKeys, keyUses, acknowledgements, limiter, metrics, clock } = parts
  const refreshTokens = createRefreshTokens(sealingKeys)
  const openMax = config.sessionsMax
  const { requireSecondFactor } = config.portal
  const needsEnrolment = (account: Account) => needsSecondFactor(account, requireSecondFactor)
  const findOwner = createKeyPairCheck(store, clock)
  const startSession = createSessionStart({
    store,
    findOwner,
    openMax,
    admit: (accountId) => takeSessionStart(limiter, accountId),
    keyUses,
    clock,
  })
  const shared = { ...config.tokens, store, startSession, accessTokens, refreshTokens, clock }
  return {
    sessions: createSessions({ ...shared, needsEnrolment, acknowledgements }),
    clientTokens: createClientTokens({ ...shared, findOwner }),
    /** Tokens for browsers that are signed in to the portal. */
    portalTokens: createPortalTokens({
      ...shared,
      openMax,
      needsEnrolment,
      onIssued: () => metrics.tokensIssued.inc({ grant: 'portal' }),
    }),
  }
}
