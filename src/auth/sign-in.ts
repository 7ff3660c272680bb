import { emailLengthMax } from '../accounts/account-input.ts'
import { createAuditEntryFactory } from '../accounts/audit-entry-factory.ts'
import { GatehouseError } from '../errors/gatehouse-error.ts'
import type { Clock } from '../platform/clock.ts'
import { isSameText } from '../secrets/constant-time.ts'
import { parseLinkToken } from '../secrets/link-token.ts'
import { assertGoodPassword, type Passwords } from '../secrets/passwords.ts'
import { createPortalToken, parsePortalToken } from '../secrets/portal-token.ts'
import type { Account } from '../store/account.ts'
import type { AccountReader } from '../store/accounts.ts'
import type { AuditAction, AuditEntry } from '../store/audit-entry.ts'
import type { PasswordProof, PortalSession, PortalStore } from '../store/portal.ts'
import type { Visitor } from '../store/visitor.ts'
import { actorOf } from './actor.ts'
import type { KnownClients } from './known-clients.ts'
import { type PasswordCheck, workOwnerOf } from './password-check.ts'

/** An account that is signed in to the portal, as read from the store for this request. */
export interface Viewer {
  readonly account: Account
  readonly session: PortalSession
}

export interface SignInAttempt {
  readonly email: string
  readonly password: string
  /** Default: none. */
  readonly clientTokens?: readonly string[]
}

/** A new portal session. */
export interface SignedIn extends Viewer {
  /** Only for the cookie: the store has its digest. */
  readonly token: string
  /** For another cookie: recognises the browser at its next sign-in (see KnownClients). */
  readonly clientToken: string
}

/**
 * Sign-in and sign-out of the portal. A portal session is looked up in the store at each request, never in a cache: its
 * end takes effect on every instance at once, and while the store is unreachable it is 503 `store-unavailable`.
 */
export interface SignIn {
  /**
   * Starts a session. A wrong password, an unknown e-mail and an account without a password get the same response
   * after the same time.
   * @param attempt with the tokens of browsers that have signed in before
   * @param visitor one `address` may use only a share of the queue of password checks
   * @throws GatehouseError `credentials-invalid`, `account-disabled` (for the right password),
   *   `sign-in-busy` (503), `too-many-failures` (429)
   */
  signIn(attempt: SignInAttempt, visitor: Visitor): Promise<SignedIn>
  /**
   * Sets the first password, or a new one, with the token of a set-up link, which is redeemed. All other sessions
   * of the account end.
   * @throws GatehouseError `link-invalid` (unknown, used, replaced by a later one, or older than 15 minutes),
   *   `request-invalid` (field `password`), `account-disabled`, `sign-in-busy`
   */
  redeemSetupLink(
    link: { readonly token: string; readonly password: string },
    visitor: Visitor,
  ): Promise<SignedIn>
  /**
   * Who is signed in with the token of a cookie; undefined = nobody, or no longer. Records when the session was last
   * used, at most once a minute.
   */
  find(token: string, visitor: Visitor): Promise<Viewer | undefined>
  /**
   * Checks the password again, since somebody else may be at the keyboard.
   * @throws GatehouseError `credentials-invalid`, `sign-in-busy`, `too-many-failures`
   */
  confirm(viewer: Viewer, password: string, visitor: Visitor): Promise<void>
  /**
   * Ends all sessions of the account, and starts a new one for the caller.
   * @throws GatehouseError `credentials-invalid` (the current one is wrong), `request-invalid` (field
   *   `password`), `sign-in-busy`, `too-many-failures`
   */
  changePassword(
    viewer: Viewer,
    change: { readonly current: string; readonly password: string },
    visitor: Visitor,
  ): Promise<SignedIn>
  signOut(viewer: Viewer, visitor: Visitor): Promise<void>
  /** Ends every portal session of the account, including this one. */
  signOutEverywhere(viewer: Viewer, visitor: Visitor): Promise<void>
}

export interface SignInOptions {
  readonly store: AccountReader & PortalStore
  readonly passwords: Passwords
  readonly check: PasswordCheck
  readonly knownClients: KnownClients
  /** `portal.sessionLifetime`. */
  readonly sessionLifetimeMs: number
  readonly clock: Clock
}

/** How often a start is retried when the account changes concurrently. */
const startAttemptsMax = 5
/** The precision of the time at which a session was last used. */
const lastUsedPrecisionMs = 60_000

export function createSignIn(options: SignInOptions): SignIn {
  const { store, passwords, check, knownClients, sessionLifetimeMs, clock } = options

  function auditEntryOf(account: Account, action: AuditAction, visitor: Visitor): AuditEntry {
    return createAuditEntryFactory(actorOf({ account }, visitor), clock)(action, account)
  }

  /** @param first the account whose password, or link, was right: void once the password changes */
  async function startSession(first: Account, visitor: Visitor, client?: string): Promise<SignedIn> {
    let account = first
    for (let attempt = 0; attempt < startAttemptsMax; attempt++) {
      if (account.isDisabled) throw new GatehouseError('account-disabled')
      const { token, sessionId, accountId, digest } = createPortalToken(account.id)
      const createdAt = clock()
      const times = { createdAt, expiresAt: createdAt + sessionLifetimeMs }
      const session = { id: sessionId, accountId, digest, ...times, ...visitor }
      const started = await store.startPortalSession(
        session,
        account,
        auditEntryOf(account, 'signed-in', visitor),
      )
      if (started === 'started') {
        const { epoch } = account.portal
        const clientToken = knownClients.issue(account.id, client)
        return { token, clientToken, account, session: { ...session, seenAt: createdAt, epoch } }
      }
      const changed = await store.findAccount(account.id)
      if (!changed || changed.portal.password !== first.portal.password) break
      account = changed
    }
    throw new GatehouseError('credentials-invalid')
  }

  async function signIn({ email, password, clientTokens = [] }: SignInAttempt, visitor: Visitor) {
    await check.admit(email, visitor)
    const found = email.length > emailLengthMax ? undefined : await store.findAccountByEmail(email)
    const client = found && knownClients.find(found.id, clientTokens)
    const account = await check.verify({ email, account: found, password, visitor, client })
    if (account.isDisabled) throw new GatehouseError('account-disabled', { accountId: account.id })
    return startSession(await rehashIfNeeded(account, password, visitor), visitor, client)
  }

  /**
   * Rehashes the password if its stored hash is outdated: only at a sign-in is the password known.
   * @throws GatehouseError `credentials-invalid` where it was replaced meanwhile
   */
  async function rehashIfNeeded(account: Account, password: string, visitor: Visitor): Promise<Account> {
    const { password: stored } = account.portal
    if (stored === undefined || !passwords.needsRehash(stored)) return account
    const hashed = await passwords.hash(password, workOwnerOf(visitor, true))
    const proof = { kind: 'password', password: stored } as const
    await store.setPassword(account.id, { password: hashed, proof, endsSessions: false })
    const renewed = await store.findAccount(account.id)
    // Another sign-in may have rehashed the password concurrently.
    const isRight =
      renewed?.portal.password === hashed ||
      (await passwords.verify(password, renewed?.portal.password, workOwnerOf(visitor, true)))
    if (!renewed || !isRight) throw new GatehouseError('credentials-invalid')
    return renewed
  }

  async function redeemSetupLink(link: { token: string; password: string }, visitor: Visitor) {
    const token = parseLinkToken('setup', link.token)
    const account = token && (await store.findAccount(token.accountId))
    const now = clock()
    // The link is checked before the password is hashed, which is expensive; setting the password redeems it in the
    // same step.
    const isOpen = isSameText(account?.portal.setupLink?.digest, token?.digest)
    if (!token || !account || !isOpen || now >= (account.portal.setupLink?.expiresAt ?? 0)) {
      throw new GatehouseError('link-invalid')
    }
    if (account.isDisabled) throw new GatehouseError('account-disabled')
    assertGoodPassword(link.password, account)
    const proof = { kind: 'setup-link', digest: token.digest, now } as const
    const change = { account, password: link.password, proof, action: 'password-set' } as const
    const changed = await setPassword(change, visitor)
    if (!changed) throw new GatehouseError('link-invalid')
    return startSession(changed, visitor)
  }

  async function setPassword(
    { account, password, proof, action }: NewPassword,
    visitor: Visitor,
  ): Promise<Account | undefined> {
    const hashed = await passwords.hash(password, workOwnerOf(visitor, true))
    const change = { password: hashed, proof, endsSessions: true }
    const outcome = await store.setPassword(account.id, change, auditEntryOf(account, action, visitor))
    if (outcome !== 'set') return undefined
    const changed = await store.findAccount(account.id)
    return changed?.portal.password === hashed ? changed : undefined
  }

  async function find(text: string, visitor: Visitor): Promise<Viewer | undefined> {
    const token = parsePortalToken(text)
    if (!token) return undefined
    const { accountId, sessionId, digest } = token
    const [account, session] = await Promise.all([
      store.findAccount(accountId),
      store.findPortalSession(accountId, sessionId),
    ])
    const now = clock()
    if (!account || account.isDisabled || !session || !isSameText(session.digest, digest)) return undefined
    if (now >= session.expiresAt || session.epoch !== account.portal.epoch) return undefined
    if (now - session.seenAt >= lastUsedPrecisionMs) {
      // Not awaited: recording the use must neither delay nor fail the response.
      store.touchPortalSession(accountId, sessionId, { ...visitor, at: now }).catch(() => {})
    }
    return { account, session }
  }

  /** A session is a known client. */
  async function confirm({ account, session }: Viewer, password: string, visitor: Visitor): Promise<void> {
    const { email } = account
    await check.admit(email, visitor)
    await check.verify({ email, account, password, visitor, client: session.id })
  }

  async function changePassword(
    viewer: Viewer,
    { current, password }: { current: string; password: string },
    visitor: Visitor,
  ) {
    assertGoodPassword(password, viewer.account)
    await confirm(viewer, current, visitor)
    const { account } = viewer
    const { password: stored = '' } = account.portal
    const proof = { kind: 'password', password: stored } as const
    const changed = await setPassword({ account, password, proof, action: 'password-changed' }, visitor)
    if (!changed) throw new GatehouseError('credentials-invalid')
    return startSession(changed, visitor)
  }

  return {
    signIn,
    redeemSetupLink,
    find,
    confirm,
    changePassword,
    signOut: async ({ account, session }, visitor) => {
      await store.endPortalSession(account.id, session.id, auditEntryOf(account, 'signed-out', visitor))
    },
    signOutEverywhere: async ({ account }, visitor) => {
      await store.endPortalSessions(account.id, auditEntryOf(account, 'portal-sessions-ended', visitor))
    },
  }
}

interface NewPassword {
  readonly account: Account
  readonly password: string
  readonly proof: PasswordProof
  readonly action: 'password-set' | 'password-changed'
}
