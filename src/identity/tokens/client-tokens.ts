import type { Clock, EpochMs } from '#platform/time.ts'
import type { AccountReader } from '#store/accounts.ts'
import { endOfSession, refusalOf, type SessionStore, type Visitor } from '#store/sessions.ts'
import type { AccessTokens } from './access-token.ts'
import type { RefreshTokens } from './refresh-tokens.ts'
import {
  assertHasScopes,
  type FindKeyPairOwner,
  type KeyPair,
  limitsOf,
  narrowed,
  type StartSession,
} from './session-start.ts'

/** Operations on tokens that only clients of OAuth 2 have. */
export interface ClientTokens {
  readonly findOwner: FindKeyPairOwner
  /**
   * Starts a session with one access token and no refresh token (RFC 6749 4.4.3), which ends with the token.
   * @param asked what the token is limited to, and the thumbprint of the key that it is bound to
   * @throws GatehouseError as FindKeyPairOwner; `rate-limited`; `scope-forbidden` if the key lacks one of the scopes
   */
  grant(pair: KeyPair, visitor: Visitor, asked: AskedToken): Promise<GrantedToken>
  /**
   * The open session of a refresh token, which is not changed; undefined = it is not a refresh token, or its session
   * has ended, by itself or with its key.
   */
  inspect(refreshToken: string): Promise<InspectedSession | undefined>
  /** Ends a session; one that has ended is no error. */
  end(sessionId: string): Promise<void>
}

interface AskedToken {
  /** undefined = all that the key has. */
  readonly scopes: readonly string[] | undefined
  /** undefined = it is not bound. */
  readonly jkt: string | undefined
}

interface GrantedToken {
  readonly accessToken: string
  /** Empty = it is not limited. */
  readonly scopes: readonly string[]
}

interface InspectedSession {
  readonly accountId: string
  /** What its key is limited to; empty = it is not. */
  readonly scopes: readonly string[]
  /** Whether it is the token that was issued last. */
  readonly isCurrent: boolean
  readonly rotatedAt: EpochMs
  readonly endsAt: EpochMs
}

interface ClientTokensOptions {
  readonly store: Pick<AccountReader, 'findAccount'> & Pick<SessionStore, 'findSession' | 'endSession'>
  readonly startSession: StartSession
  readonly findOwner: FindKeyPairOwner
  readonly accessTokens: AccessTokens
  readonly refreshTokens: Pick<RefreshTokens, 'parse'>
  readonly accessLifetimeMs: number
  readonly refreshIdleMs: number
  readonly clockToleranceMs: number
  readonly clock: Clock
}

/** `exp` is in whole seconds, rounded up. */
const secondMs = 1_000

export function createClientTokens(options: ClientTokensOptions): ClientTokens {
  const { store, startSession, findOwner, accessTokens, refreshTokens, refreshIdleMs, clock } = options
  const lifetimeMs = options.accessLifetimeMs + secondMs + options.clockToleranceMs

  return {
    findOwner,
    grant: async (pair, visitor, { scopes, jkt }) => {
      accessTokens.assertCanIssue()
      const { account, session } = await startSession(pair, visitor, {
        lifetimeMs,
        idleMs: lifetimeMs,
        assertMay: (key) => assertHasScopes(key.scopes, scopes),
      })
      const { id: accountId, role, roleEpoch } = account
      const limits = narrowed(limitsOf(account, session), scopes)
      const subject = { accountId, clientId: accountId, sessionId: session.id, role, roleEpoch, limits, jkt }
      return { accessToken: accessTokens.issue(subject), scopes: limits.scopes }
    },
    inspect: async (refreshToken) => {
      const token = refreshTokens.parse(refreshToken)
      const session = token && (await store.findSession(token.sessionId))
      const account = session && (await store.findAccount(session.accountId))
      if (!account || refusalOf(session, account, { now: clock(), idleMs: refreshIdleMs })) return undefined
      const { accountId, generation, rotatedAt } = session
      const endsAt = endOfSession(session, refreshIdleMs)
      const { scopes } = limitsOf(account, session)
      return { accountId, scopes, isCurrent: token.generation === generation, rotatedAt, endsAt }
    },
    end: async (sessionId) => void (await store.endSession(sessionId, 'revoked')),
  }
}
