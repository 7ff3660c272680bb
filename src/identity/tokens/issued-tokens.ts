import type { Clock } from '#platform/time.ts'
import type { Account } from '#store/accounts.ts'
import type { Session } from '#store/sessions.ts'
import type { AccessTokens } from './access-token.ts'
import type { RefreshTokens } from './refresh-tokens.ts'
import { limitsOf, narrowed } from './session-start.ts'

/** The tokens issued to a caller, and how long the refresh token can be used. */
export interface IssuedTokens {
  readonly account: Account
  readonly accessToken: string
  /** The one for the access cookie; undefined = there is no such cookie. */
  readonly cookieToken: string | undefined
  readonly refreshToken: string
  /** The remaining lifetime of the session, unless it is refreshed. */
  readonly refreshLifetimeMs: number
}

/** What a client of OAuth 2 can ask of its tokens: fewer scopes, and a key to bind them to. */
export interface TokenTerms {
  /** undefined = all that the key of the session has. */
  readonly scopes: readonly string[] | undefined
  /** The thumbprint of the key that the access token is bound to; undefined = none. */
  readonly jkt: string | undefined
}

type IssueTokens = (
  account: Account,
  session: Pick<Session, 'id' | 'generation' | 'rotatedAt' | 'expiresAt' | 'keyId'>,
  /** `client`: undefined = no client of OAuth 2; `jkt`: what the refresh token is bound to; undefined = nothing. */
  to?: { readonly client: TokenTerms | undefined; readonly jkt: string | undefined },
) => IssuedTokens

export interface TokenIssuerOptions {
  readonly accessTokens: AccessTokens
  readonly refreshTokens: RefreshTokens
  readonly refreshIdleMs: number
  readonly clock: Clock
}

/** Issues the tokens of an open session. */
export function createTokenIssuer(options: TokenIssuerOptions): IssueTokens {
  const { accessTokens, refreshTokens, refreshIdleMs, clock } = options
  return function issueTokens(account, session, { client, jkt } = { client: undefined, jkt: undefined }) {
    const { id: accountId, role, roleEpoch } = account
    const limits = narrowed(limitsOf(account, session), client?.scopes)
    const subject = { accountId, sessionId: session.id, role, roleEpoch, limits }
    const endsAt = Math.min(session.expiresAt, session.rotatedAt + refreshIdleMs)
    return {
      account,
      accessToken: accessTokens.issue({ ...subject, clientId: client && accountId, jkt: client?.jkt }),
      cookieToken: client ? undefined : accessTokens.issueForCookie(subject, session.expiresAt),
      refreshToken: refreshTokens.create(session.id, session.generation, jkt),
      refreshLifetimeMs: Math.max(0, endsAt - clock()),
    }
  }
}
