import { isDeepStrictEqual } from 'node:util'
import { endPairedSession } from '#accounts/account-sessions.ts'
import { ownAuditEntry } from '#accounts/audit-log.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { randomText } from '#platform/secrets/key-format.ts'
import { createPortalToken, parsePortalToken } from '#platform/secrets/link-tokens.ts'
import { createMac, isSameText, type KeySource } from '#platform/secrets/sealing.ts'
import type { Clock } from '#platform/time.ts'
import type { Account, AccountReader } from '#store/accounts.ts'
import type { AuditEntry } from '#store/audit-entry.ts'
import type { PortalStore } from '#store/portal.ts'
import { type Passkey, passkeysOf } from '#store/portal-access.ts'
import type { SessionStore, Visitor } from '#store/sessions.ts'
import type { IssuedTokens, PortalTokens, Viewer } from '../tokens/issued-tokens.ts'
import { startAttemptsMax } from '../tokens/session-start.ts'

export interface SignedIn extends Viewer {
  /** Only for the cookie: the store keeps its digest. */
  readonly token: string
  /** For a separate cookie that recognises the browser at its next sign-in (see KnownClients). */
  readonly clientToken: string
  /** For the cookies that routes take; undefined = the host of the portal has none. */
  readonly tokens: IssuedTokens | undefined
}

/** The sessions of the portal. Whether somebody may sign in is decided by the caller. */
export interface PortalSessions {
  /**
   * Starts a session.
   * @param first the account that the person has just proven to own: by its password, a link, a passkey or a provider.
   * The proof is void once its password or its link with a provider has changed
   * @throws GatehouseError `account-disabled`; `credentials-invalid` if one of these was changed concurrently
   */
  start(first: Account, visitor: Visitor, options?: SignInDetails): Promise<SignedIn>
  /**
   * Who is signed in with the token of a cookie; undefined = nobody, or not any more. Records when the session was last
   * used, at most once a minute.
   */
  find(token: string, visitor: Visitor): Promise<Viewer | undefined>
  /** New tokens for the cookies of a viewer's browser; undefined if the session has ended, or there are no cookies. */
  renewTokens(viewer: Viewer, visitor: Visitor): Promise<IssuedTokens | undefined>
  /** Whether `resume` will have tokens for the viewer's browser, on another host. */
  canResume(viewer: Viewer, visitor: Visitor): Promise<boolean>
  /**
   * New tokens of a session for a browser that has proven that the session is its own; undefined as for `renewTokens`.
   */
  resume(session: PortalSessionIds, visitor: Visitor): Promise<IssuedTokens | undefined>
  end(viewer: Viewer, visitor: Visitor): Promise<void>
  /** Ends every portal session of the account, including this one. */
  endAll(viewer: Viewer, visitor: Visitor): Promise<void>
}

export interface PortalSessionIds {
  readonly accountId: string
  readonly sessionId: string
}

interface SignInDetails {
  /** The known client that signs in; default: a new one. */
  readonly client?: string | undefined
  /** How the person signed in, for the audit log. Default: nothing. */
  readonly details?: AuditEntry['details']
  /** The passkey that was used instead of a password: the start is void once it is removed. */
  readonly passkey?: Passkey
}

interface PortalSessionsOptions {
  readonly store: AccountReader & PortalStore & Pick<SessionStore, 'findSession' | 'endSession'>
  /** undefined = the access cookie is not enabled. */
  readonly portalTokens?: PortalTokens | undefined
  /** Whether browsers get the tokens as cookies of the portal's host; otherwise other hosts `resume` the session. */
  readonly hasTokenCookies: boolean
  readonly knownClients: KnownClients
  /** `portal.sessionLifetime`. */
  readonly sessionLifetimeMs: number
  readonly clock: Clock
}

/** The precision of the time at which a session was last used. */
const lastUsedPrecisionMs = 60_000

export function createPortalSessions(options: PortalSessionsOptions): PortalSessions {
  const { store, knownClients, sessionLifetimeMs, portalTokens, hasTokenCookies, clock } = options

  const start: PortalSessions['start'] = async (
    first,
    visitor,
    { client, passkey, details = passkey ? { passkey: passkey.name } : {} } = {},
  ) => {
    let account = first
    for (let attempt = 0; attempt < startAttemptsMax; attempt++) {
      if (account.isDisabled) throw new GatehouseError('account-disabled', { accountId: account.id })
      const { token, sessionId, accountId, digest } = createPortalToken(account.id)
      const createdAt = clock()
      const times = { createdAt, expiresAt: createdAt + sessionLifetimeMs }
      const session = { id: sessionId, accountId, digest, ...times, ...visitor }
      const started = await store.startPortalSession(
        session,
        account,
        ownAuditEntry({ account, action: 'signed-in', details }, visitor, clock),
      )
      if (started === 'started') {
        const { epoch } = account.portal
        const clientToken = knownClients.issue(account.id, client)
        const signedIn = { account, session: { ...session, seenAt: createdAt, epoch } }
        return { token, clientToken, ...signedIn, tokens: await firstTokens(signedIn, visitor) }
      }
      const changed = await store.findAccount(account.id)
      if (!changed || !hasSameProofs(changed, first, passkey)) break
      account = changed
    }
    throw new GatehouseError('credentials-invalid')
  }

  /** The token session starts with the portal session, even if the tokens are for another host. */
  async function firstTokens(viewer: Viewer, visitor: Visitor): Promise<IssuedTokens | undefined> {
    if (hasTokenCookies) return portalTokens?.issue(viewer, visitor)
    await portalTokens?.open(viewer, visitor)
    return undefined
  }

  async function find(text: string, visitor: Visitor): Promise<Viewer | undefined> {
    const token = parsePortalToken(text)
    if (!token) return undefined
    const viewer = await findOpen(token)
    if (!viewer || !isSameText(viewer.session.digest, token.digest)) return undefined
    const now = clock()
    if (now - viewer.session.seenAt >= lastUsedPrecisionMs) {
      // Not awaited, as recording the use must neither delay nor fail the response.
      store.touchPortalSession(token.accountId, token.sessionId, { ...visitor, at: now }).catch(() => {})
    }
    return viewer
  }

  async function findOpen({ accountId, sessionId }: PortalSessionIds): Promise<Viewer | undefined> {
    const [account, session, isEnded] = await Promise.all([
      store.findAccount(accountId),
      store.findPortalSession(accountId, sessionId),
      portalTokens?.isEnded(sessionId),
    ])
    // Ending either session is meant to end both.
    if (isEnded || !account || account.isDisabled || !session) return undefined
    return clock() < session.expiresAt && session.epoch === account.portal.epoch
      ? { account, session }
      : undefined
  }

  async function resume(session: PortalSessionIds, visitor: Visitor): Promise<IssuedTokens | undefined> {
    const viewer = await findOpen(session)
    return viewer && portalTokens?.issue(viewer, visitor)
  }

  async function end({ account, session }: Viewer, visitor: Visitor): Promise<void> {
    const entry = ownAuditEntry({ account, action: 'signed-out' }, visitor, clock)
    await endPairedSession(store, account.id, session.id)
    await store.endPortalSession(account.id, session.id, entry)
  }

  async function endAll({ account }: Viewer, visitor: Visitor): Promise<void> {
    const entry = ownAuditEntry({ account, action: 'portal-sessions-ended' }, visitor, clock)
    const open = await store.listPortalSessions(account.id, clock())
    await Promise.all(open.map(({ id }) => endPairedSession(store, account.id, id)))
    await store.endPortalSessions(account.id, entry)
  }

  return {
    start,
    find,
    renewTokens: async (viewer, visitor) => portalTokens?.issue(viewer, visitor),
    canResume: async (viewer, visitor) => (await portalTokens?.open(viewer, visitor)) !== undefined,
    resume,
    end,
    endAll,
  }
}

/** Whether the means of signing in are still the same. */
export function hasSameProofs({ portal }: Account, { portal: before }: Account, passkey?: Passkey): boolean {
  if (passkey && !passkeysOf(portal).some(({ id }) => id === passkey.id)) return false
  return portal.password === before.password && isDeepStrictEqual(portal.identities, before.identities)
}

/**
 * Recognises browsers that have signed in to an account before, by a signed token in a cookie. The token grants no
 * access: it only distinguishes the browser from unknown clients, which may be guessing the password.
 */
export interface KnownClients {
  /** The ID of the client; undefined where none of the tokens belongs to this account. */
  find(accountId: string, tokens: readonly string[]): string | undefined
  /**
   * The token for a browser that has signed in.
   * @param client its ID, if it was known before
   */
  issue(accountId: string, client: string | undefined): string
}

const idLength = 22
const tokenPattern = /^([0-9A-Za-z]{22})\.([\w-]{43})$/

/** @param keys sign the tokens; derived from the sealing keys */
export function createKnownClients(keys: KeySource): KnownClients {
  const mac = createMac(keys)

  function find(accountId: string, tokens: readonly string[]): string | undefined {
    for (const token of tokens) {
      const [, client = '', signature = ''] = tokenPattern.exec(token) ?? []
      if (client !== '' && mac.isValid(`${accountId} ${client}`, signature)) return client
    }
    return undefined
  }

  return {
    find,
    issue: (accountId, client = randomText(idLength)) => `${client}.${mac.sign(`${accountId} ${client}`)}`,
  }
}
