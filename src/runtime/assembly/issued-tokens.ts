import type { KeyUses } from '#accounts/key-uses.ts'
import type { Config } from '#config/config.ts'
import { takeSessionStart } from '#identity/limits/limits.ts'
import type { RateLimiter } from '#identity/limits/rate-limiter.ts'
import { createPortalTokens, type PortalTokens } from '#identity/portal/portal-tokens.ts'
import { needsSecondFactor } from '#identity/second-factor/policy.ts'
import type { AccessTokens } from '#identity/tokens/access-token.ts'
import { type ClientTokens, createClientTokens } from '#identity/tokens/client-tokens.ts'
import { type Acknowledgements, createRefreshTokens } from '#identity/tokens/refresh-tokens.ts'
import { createKeyPairCheck, createSessionStart } from '#identity/tokens/session-start.ts'
import { createSessions, type Sessions } from '#identity/tokens/sessions.ts'
import type { Metrics } from '#ops/metrics/metrics.ts'
import type { Clock } from '#platform/clock.ts'
import type { KeySource } from '#platform/secrets/sealing.ts'
import type { Account } from '#store/account.ts'
import type { Store } from '#store/store.ts'

/** What issues tokens, under one config. */
export interface TokenIssuers {
  readonly sessions: Sessions
  readonly clientTokens: ClientTokens
  /** Tokens for browsers that are signed in to the portal. */
  readonly portalTokens: PortalTokens
}

export interface TokenIssuersOptions {
  readonly config: Pick<Config, 'tokens' | 'sessionsMax' | 'portal'>
  readonly store: Store
  readonly sealingKeys: KeySource
  readonly keyUses: KeyUses
  readonly limiter: Pick<RateLimiter, 'take'>
  readonly acknowledgements: Acknowledgements
  readonly metrics: Metrics
  readonly clock: Clock
}

export function createTokenIssuers(options: TokenIssuersOptions, accessTokens: AccessTokens): TokenIssuers {
  const { config, store, sealingKeys, keyUses, acknowledgements, limiter, metrics, clock } = options
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
    portalTokens: createPortalTokens({
      store,
      accessTokens,
      refreshTokens,
      refreshIdleMs: config.tokens.refreshIdleMs,
      openMax,
      needsEnrolment,
      onIssued: () => metrics.tokensIssued.inc({ grant: 'portal' }),
      clock,
    }),
  }
}
