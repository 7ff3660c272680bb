import type { KeyUses } from '../accounts/key-uses.ts'
import type { ErrorCode } from '../errors/codes.ts'
import { GatehouseError } from '../errors/gatehouse-error.ts'
import { isWithin } from '../platform/address-ranges.ts'
import type { Clock } from '../platform/clock.ts'
import { isForeignKey } from '../secrets/foreign-key.ts'
import { digestOf, findKey, isApiKeyOf, parseKey } from '../secrets/keys.ts'
import type { Account } from '../store/account.ts'
import type { AccountReader } from '../store/accounts.ts'
import { portalEpochIn } from '../store/portal-key-id.ts'
import { keyOfSession, keyState, type SecretKey, unlimited, validUntil } from '../store/secret-keys.ts'
import type { RefreshTokenUse, RotationRefusal, Session, SessionStore } from '../store/sessions.ts'
import type { Visitor } from '../store/visitor.ts'
import type { AccessTokens, TokenLimits } from './access-token.ts'
import type { Acknowledgements } from './acknowledgements.ts'
import { createSessionId, type RefreshTokens } from './refresh-token.ts'

/** The tokens issued to a caller, and how long the refresh token can be used. */
export interface IssuedTokens {
  readonly account: Account
  readonly accessToken: string
  readonly refreshToken: string
  /** Until the session ends if it is not refreshed. */
  readonly refreshLifetimeMs: number
}

export interface RefreshedTokens extends IssuedTokens {
  /** To be called once the response was sent: only then does the grace period of the previous token begin. */
  acknowledge(): void
}

/** Sessions: one sign-in and all its rotations (RFC 9700 4.14). */
export interface Sessions {
  /**
   * Starts a session with both keys of an account.
   * @throws GatehouseError `credentials-invalid` (the same for every wrong pair); for a right one
   *   `secret-key-expired`, `account-disabled`, `address-forbidden`, `rate-limited`
   */
  start(secretKey: string, apiKey: string, visitor: Visitor): Promise<IssuedTokens>
  /**
   * Exchanges a refresh token for the next one. The previous token returns the same next one again until that is known
   * to be delivered, and for the grace period after that; reuse of an older token revokes the session (reuse
   * detection).
   * @throws GatehouseError `refresh-token-invalid`, `-expired`, `-reused`, `session-revoked`
   */
  refresh(refreshToken: string, visitor: Visitor): Promise<RefreshedTokens>
  /** Ends the session of a refresh token, whether or not it is current; unknown tokens are no error. */
  revoke(refreshToken: string): Promise<void>
}

export interface SessionsOptions {
  readonly store: Pick<AccountReader, 'findAccount'> &
    Pick<SessionStore, 'startSession' | 'rotateSession' | 'endSession'>
  readonly accessTokens: AccessTokens
  readonly refreshTokens: RefreshTokens
  readonly refreshLifetimeMs: number
  readonly refreshIdleMs: number
  readonly reuseGraceMs: number
  /** How many sessions an account may have: beyond that the oldest ends. */
  readonly openMax: number
  /** Whether an account has to set up a second factor before a session of the portal gives it any token. */
  readonly needsEnrolment: (account: Account) => boolean
  /** Called for an account whose keys are valid, before a session starts. @throws to reject it */
  readonly admit: (accountId: string) => Promise<void>
  readonly acknowledgements: Pick<Acknowledgements, 'enqueue' | 'writeNow' | 'flushSession'>
  /** Records the keys that a session was started with. */
  readonly keyUses?: Pick<KeyUses, 'record'>
  readonly clock: Clock
}

/** How often a start is retried when the account changes concurrently. */
const startAttemptsMax = 5

/**
 * A shorter grace period could end before a batched acknowledgement is written: then it is written before the response
 * is sent.
 */
const acknowledgeFirstBelowMs = 100

const refusals = {
  unknown: 'session-revoked',
  expired: 'refresh-token-expired',
  reused: 'refresh-token-reused',
  revoked: 'session-revoked',
} as const satisfies Record<RotationRefusal, ErrorCode>

type TokenUse = Pick<RefreshTokenUse, 'sessionId' | 'generation' | 'visitor'>

export function createSessions(options: SessionsOptions): Sessions {
  const { store, accessTokens, refreshTokens, refreshLifetimeMs, refreshIdleMs } = options
  const { reuseGraceMs, acknowledgements, openMax, needsEnrolment, admit, keyUses, clock } = options
  const acknowledgesFirst = reuseGraceMs < acknowledgeFirstBelowMs
  /** With a short grace period: the last refresh in flight of each session. */
  const inFlight = new Map<string, Promise<unknown>>()

  function issueTokens(
    account: Account,
    session: Pick<Session, 'id' | 'generation' | 'rotatedAt' | 'expiresAt' | 'keyId'>,
  ): IssuedTokens {
    const { id: accountId, role, roleEpoch } = account
    const limits = limitsOf(account, session)
    return {
      account,
      accessToken: accessTokens.issue({
        accountId,
        sessionId: session.id,
        role,
        roleEpoch,
        limits,
      }),
      refreshToken: refreshTokens.create(session.id, session.generation),
      refreshLifetimeMs: Math.max(
        0,
        Math.min(session.expiresAt, session.rotatedAt + refreshIdleMs) - clock(),
      ),
    }
  }

  async function start(secretKey: string, apiKey: string, visitor: Visitor): Promise<IssuedTokens> {
    accessTokens.assertCanIssue()
    for (let attempt = 0; attempt < startAttemptsMax; attempt++) {
      const { account, key } = await findOwner(secretKey, apiKey, visitor)
      if (attempt === 0) await admit(account.id)
      const now = clock()
      const session = {
        id: createSessionId(),
        accountId: account.id,
        createdAt: now,
        expiresAt: Math.min(now + refreshLifetimeMs, key.expiresAt ?? Number.POSITIVE_INFINITY),
        keyId: key.id,
        visitor,
      }
      const started = await store.startSession({ ...session, idleMs: refreshIdleMs, openMax }, account)
      if (started === 'started') {
        for (const text of [secretKey, apiKey]) {
          keyUses?.record(account.id, text, visitor.address, 'accessToken')
        }
        return issueTokens(account, { ...session, generation: 1, rotatedAt: now })
      }
    }
    throw new GatehouseError('store-unavailable')
  }

  /** Reads the store, not a cache: a pair that was reset must not start a session. */
  async function findOwner(
    secretKeyText: string,
    apiKeyText: string,
    { address }: Visitor,
  ): Promise<{ readonly account: Account; readonly key: SecretKey }> {
    const digest = secretKeyDigest(secretKeyText)
    const apiKey = parseKey('apiKey', apiKeyText)
    if (!digest || !apiKey) throw new GatehouseError('credentials-invalid')
    // By the API key, as a secret key that was made elsewhere does not name its account.
    const account = await store.findAccount(apiKey.accountId)
    // Both are always compared: timing must not reveal which of them is wrong.
    const key = findKey(account?.secretKeys ?? [], digest)
    const isApiKey = isApiKeyOf(account, apiKey.digest)
    const state = key ? keyState(key, clock()) : 'revoked'
    if (!account || !key || !isApiKey || state === 'revoked') throw new GatehouseError('credentials-invalid')
    if (state === 'expired') throw new GatehouseError('secret-key-expired')
    if (account.isDisabled) throw new GatehouseError('account-disabled')
    if (key.addresses.length > 0 && !isWithin(key.addresses, address))
      throw new GatehouseError('address-forbidden')
    return { account, key }
  }

  async function refresh(refreshToken: string, visitor: Visitor): Promise<RefreshedTokens> {
    const token = refreshTokens.parse(refreshToken)
    if (!token) throw new GatehouseError('refresh-token-invalid')
    accessTokens.assertCanIssue()
    return acknowledgesFirst ? refreshSerially({ ...token, visitor }) : rotate({ ...token, visitor })
  }

  /**
   * Waits for a refresh of the same session in flight in this process: then it is known whether that was the only one.
   */
  async function refreshSerially(use: TokenUse): Promise<RefreshedTokens> {
    const { sessionId } = use
    const before = inFlight.get(sessionId)
    if (before) await before.catch(() => {})
    const refreshing = rotate(use)
    inFlight.set(sessionId, refreshing)
    try {
      return await refreshing
    } finally {
      if (inFlight.get(sessionId) === refreshing) inFlight.delete(sessionId)
    }
  }

  async function rotate(use: TokenUse): Promise<RefreshedTokens> {
    await acknowledgements.flushSession(use.sessionId)
    const rotation = await store.rotateSession({
      ...use,
      now: clock(),
      graceMs: reuseGraceMs,
      idleMs: refreshIdleMs,
    })
    if (rotation.kind === 'over') throw new GatehouseError(refusals[rotation.reason])
    const { account, session } = rotation
    // It was required, or removed, since the sign-in: the portal lets the person set it up, and has new tokens then.
    if (portalEpochIn(session.keyId) !== undefined && needsEnrolment(account))
      throw new GatehouseError('session-revoked')
    const issued = issueTokens(account, session)
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

/** What its key is limited to; a session of the portal has none, and is limited by its end. */
function limitsOf(account: Account, { keyId, expiresAt }: Pick<Session, 'keyId' | 'expiresAt'>): TokenLimits {
  if (portalEpochIn(keyId) !== undefined) return { scopes: unlimited, validUntil: expiresAt }
  const key = keyOfSession(account.secretKeys, keyId)
  if (!key) throw new GatehouseError('session-revoked')
  return { scopes: key.scopes, validUntil: validUntil(key) }
}

/** undefined where the text can be no secret key, neither one of ours nor one that was made elsewhere. */
function secretKeyDigest(text: string): Uint8Array | undefined {
  return parseKey('secretKey', text)?.digest ?? (isForeignKey(text) ? digestOf(text) : undefined)
}
