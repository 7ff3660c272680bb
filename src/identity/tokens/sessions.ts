import { createAuditEntryFactory } from '#accounts/audit-log.ts'
import type { ErrorCode } from '#platform/errors/codes.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import type { Account } from '#store/accounts.ts'
import {
  portalEpochIn,
  type RefreshTokenUse,
  type RotationRefusal,
  type SessionStore,
  type Visitor,
} from '#store/sessions.ts'
import {
  createTokenIssuer,
  type IssuedTokens,
  type TokenIssuerOptions,
  type TokenTerms,
} from './issued-tokens.ts'
import type { Acknowledgements } from './refresh-tokens.ts'
import type { StartSession } from './session-start.ts'

interface RefreshedTokens extends IssuedTokens {
  /** To be called once the response was sent: the grace period of the previous token begins only then. */
  acknowledge(): void
}

/** Sessions: one sign-in with all its rotations (RFC 9700 4.14). */
export interface Sessions {
  /**
   * Starts a session with both keys of an account.
   * @throws GatehouseError `credentials-invalid` (the same for every wrong pair); for a right one
   *   `secret-key-expired`, `account-disabled`, `address-forbidden`, `rate-limited`
   */
  start(secretKey: string, apiKey: string, visitor: Visitor): Promise<IssuedTokens>
  /**
   * Exchanges a refresh token for the next one. A token that is used again gets the same next one, until that is known
   * to have been delivered, and for the grace period after that. Later, or if the token is older, its reuse revokes the
   * session (reuse detection).
   * @param client only for a client of OAuth 2
   * @throws GatehouseError `refresh-token-invalid`, `-expired`, `-reused`, `session-revoked`; `scope-forbidden`
   */
  refresh(refreshToken: string, visitor: Visitor, client?: RefreshingClient): Promise<RefreshedTokens>
  /** Ends the session of a refresh token, whether or not it is current; unknown tokens are no error. */
  revoke(refreshToken: string): Promise<void>
}

/**
 * A client of OAuth 2 that refreshes. The new access token names it (RFC 9068 2.2), and has no more scopes than the
 * client asks for.
 */
interface RefreshingClient extends TokenTerms {
  /** Whether only the key of `jkt` proves who it is: then its refresh tokens are bound to that key too (RFC 9449 5). */
  readonly isPublic: boolean
}

export interface SessionsOptions extends TokenIssuerOptions {
  readonly store: Pick<SessionStore, 'rotateSession' | 'endSession'>
  readonly startSession: StartSession
  readonly refreshLifetimeMs: number
  readonly reuseGraceMs: number
  /** Whether an account has to set up a second factor before a session of the portal gives it any token. */
  readonly needsEnrolment: (account: Account) => boolean
  readonly acknowledgements: Pick<Acknowledgements, 'enqueue' | 'writeNow' | 'flushSession'>
}

/**
 * A grace period shorter than this could end before a batched acknowledgement is written: then it is written before the
 * response is sent.
 */
const acknowledgeFirstBelowMs = 100

const boundToKey =
  'The refresh token is bound to a key: use it at /api/v1/oauth/token, with a proof of that key in the DPoP field.'

const refusals = {
  unknown: 'session-revoked',
  expired: 'refresh-token-expired',
  reused: 'refresh-token-reused',
  revoked: 'session-revoked',
} as const satisfies Record<RotationRefusal, ErrorCode>

interface TokenUse extends Pick<RefreshTokenUse, 'sessionId' | 'generation' | 'visitor'> {
  /** What its refresh token is bound to, and the next one will be. */
  readonly jkt: string | undefined
  readonly client: RefreshingClient | undefined
}

export function createSessions(options: SessionsOptions): Sessions {
  const {
    store,
    startSession,
    accessTokens,
    refreshTokens,
    refreshLifetimeMs,
    refreshIdleMs,
    reuseGraceMs,
    acknowledgements,
    needsEnrolment,
    clock,
  } = options
  const issueTokens = createTokenIssuer(options)
  const entry = createAuditEntryFactory({ kind: 'system', channel: 'system' }, clock)
  const acknowledgesFirst = reuseGraceMs < acknowledgeFirstBelowMs
  /** Only with a short grace period: the last refresh in flight of each session. */
  const inFlight = new Map<string, Promise<unknown>>()

  async function start(secretKey: string, apiKey: string, visitor: Visitor): Promise<IssuedTokens> {
    accessTokens.assertCanIssue()
    const terms = { lifetimeMs: refreshLifetimeMs, idleMs: refreshIdleMs }
    const { account, session } = await startSession({ secretKey, apiKey }, visitor, terms)
    return issueTokens(account, session)
  }

  const refresh: Sessions['refresh'] = async (refreshToken, visitor, client) => {
    const token = refreshTokens.parse(refreshToken)
    if (!token) throw new GatehouseError('refresh-token-invalid')
    if (token.jkt !== undefined && token.jkt !== client?.jkt)
      throw new GatehouseError('refresh-token-invalid', { detail: boundToKey })
    accessTokens.assertCanIssue()
    const use = { ...token, jkt: token.jkt ?? (client?.isPublic ? client.jkt : undefined), visitor, client }
    return acknowledgesFirst ? refreshSerially(use) : rotate(use)
  }

  /**
   * Waits for a refresh of the same session that is in flight in this process, so that this one sees what that one has
   * done.
   */
  async function refreshSerially(use: TokenUse): Promise<RefreshedTokens> {
    const { sessionId } = use
    const before = inFlight.get(sessionId) ?? Promise.resolve()
    // Set before anything is awaited, so that a third one waits for the second.
    const refreshing = before.catch(() => {}).then(() => rotate(use))
    inFlight.set(sessionId, refreshing)
    try {
      return await refreshing
    } finally {
      if (inFlight.get(sessionId) === refreshing) inFlight.delete(sessionId)
    }
  }

  async function rotate({ client, jkt, ...use }: TokenUse): Promise<RefreshedTokens> {
    await acknowledgements.flushSession(use.sessionId)
    const { sessionId, visitor } = use
    const rotation = await store.rotateSession(
      { ...use, now: clock(), graceMs: reuseGraceMs, idleMs: refreshIdleMs },
      (account) => entry('session-reused', account, { sessionId, address: visitor.address }),
    )
    if (rotation.kind === 'over') throw new GatehouseError(refusals[rotation.reason])
    const { account, session } = rotation
    // The factor was required, or removed, since the sign-in. The portal lets the person set it up, and issues new
    // tokens then.
    if (portalEpochIn(session.keyId) !== undefined && needsEnrolment(account))
      throw new GatehouseError('session-revoked')
    const issued = issueTokens(account, session, { client, jkt })
    if (session.acknowledgedAt !== undefined) return { ...issued, acknowledge: () => {} }
    const given = { sessionId: session.id, generation: session.generation, at: clock() }
    if (!acknowledgesFirst) return { ...issued, acknowledge: () => acknowledgements.enqueue(given) }
    await acknowledgements.writeNow(given)
    return { ...issued, acknowledge: () => {} }
  }

  async function revoke(refreshToken: string): Promise<void> {
    const token = refreshTokens.parse(refreshToken)
    if (token) await store.endSession(token.sessionId, 'revoked')
  }

  return { start, refresh, revoke }
}
