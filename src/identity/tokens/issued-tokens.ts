import type { Clock } from '#platform/time.ts'
import type { Account, AccountReader } from '#store/accounts.ts'
import type { PortalSession, PortalStore } from '#store/portal.ts'
import {
  endOfSession,
  portalEpochIn,
  portalKeyId,
  type Session,
  type SessionStore,
  type Visitor,
} from '#store/sessions.ts'
import type { AccessTokens } from './access-token.ts'
import type { RefreshTokens } from './refresh-tokens.ts'
import { limitsOf, narrowed, startAttemptsMax } from './session-start.ts'

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
    const endsAt = endOfSession(session, refreshIdleMs)
    // A sign-in to the portal lasts on without a refresh: the portal gives its browser new tokens.
    const cookieEndsAt = portalEpochIn(session.keyId) === undefined ? endsAt : session.expiresAt
    return {
      account,
      accessToken: accessTokens.issue({ ...subject, clientId: client && accountId, jkt: client?.jkt }),
      cookieToken: client ? undefined : accessTokens.issueForCookie(subject, cookieEndsAt),
      refreshToken: refreshTokens.create(session.id, session.generation, jkt),
      refreshLifetimeMs: Math.max(0, endsAt - clock()),
    }
  }
}

/** The tokens that browsers signed in to the portal get as cookies. */
export interface PortalTokens {
  /**
   * The token session of a portal session: it has the same ID, is started if necessary, and ends no later.
   * @returns undefined if it has been ended, alone or with all others, so that nobody is signed in with it any more; or
   * if the account has to set up a second factor first
   */
  open(signedIn: Viewer, visitor: Visitor): Promise<Session | undefined>
  /** Tokens of that session. @returns undefined where `open` returns it */
  issue(signedIn: Viewer, visitor: Visitor): Promise<IssuedTokens | undefined>
  /** Whether the token session of a portal session was ended. */
  isEnded(sessionId: string): Promise<boolean>
}

/** An account that is signed in to the portal, as read from the store for this request. */
export interface Viewer {
  readonly account: Account
  readonly session: PortalSession
}

export interface PortalTokensOptions extends TokenIssuerOptions {
  readonly store: Pick<AccountReader, 'findAccount'> &
    Pick<SessionStore, 'startSession' | 'findSession' | 'endSession'> &
    Pick<PortalStore, 'findPortalSession'>
  /** How many sessions an account may have: beyond that the oldest ends. */
  readonly openMax: number
  /** Whether an account has to set up a second factor before it gets any token. */
  readonly needsEnrolment: (account: Account) => boolean
  /** Called for each access token. */
  onIssued(): void
}

export function createPortalTokens(options: PortalTokensOptions): PortalTokens {
  const { store, accessTokens, openMax, needsEnrolment, onIssued, clock } = options
  const issueTokens = createTokenIssuer(options)

  async function open(signedIn: Viewer, visitor: Visitor): Promise<Session | undefined> {
    if (needsEnrolment(signedIn.account)) return undefined
    const paired = (await store.findSession(signedIn.session.id)) ?? (await start(signedIn, visitor))
    return paired && isOpen(paired, signedIn.account) ? paired : undefined
  }

  async function issue(signedIn: Viewer, visitor: Visitor): Promise<IssuedTokens | undefined> {
    accessTokens.assertCanIssue()
    const paired = await open(signedIn, visitor)
    if (!paired) return undefined
    onIssued()
    return issueTokens(signedIn.account, paired)
  }

  /** @returns undefined where the account is disabled, or the portal session has ended */
  async function start(
    { account: first, session: { id, expiresAt, epoch } }: Viewer,
    visitor: Visitor,
  ): Promise<Session | undefined> {
    const now = clock()
    const times = { createdAt: now, expiresAt, idleMs: expiresAt - now }
    const session = { id, accountId: first.id, ...times, keyId: portalKeyId(epoch), openMax, visitor }
    let account: Account | undefined = first
    for (let attempt = 0; attempt < startAttemptsMax && account && !account.isDisabled; attempt++) {
      if ((await store.startSession(session, account)) === 'started') {
        // The person may have signed out in the meantime, before there was anything to end here.
        if (await store.findPortalSession(account.id, id)) return store.findSession(id)
        await store.endSession(id, 'revoked')
        return undefined
      }
      account = await store.findAccount(first.id)
    }
    return undefined
  }

  return {
    open,
    issue,
    isEnded: async (sessionId) => (await store.findSession(sessionId))?.end !== undefined,
  }
}

function isOpen({ accountId, end, sessionEpoch, keyId }: Session, account: Account): boolean {
  return (
    accountId === account.id &&
    end === undefined &&
    sessionEpoch === account.sessionEpoch &&
    keyId === portalKeyId(account.portal.epoch)
  )
}
