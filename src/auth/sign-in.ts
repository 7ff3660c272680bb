import { emailLengthMax } from '../accounts/account-input.ts'
import { ownAuditEntry } from '../accounts/audit-entry-factory.ts'
import { GatehouseError } from '../errors/gatehouse-error.ts'
import { isSameText } from '../secrets/constant-time.ts'
import { assertGoodPassword, type Passwords } from '../secrets/passwords.ts'
import { parseLinkToken } from '../secrets/portal-tokens.ts'
import type { Account } from '../store/account.ts'
import type { PasswordProof } from '../store/portal.ts'
import type { Visitor } from '../store/visitor.ts'
import { type PasswordCheck, workOwnerOf } from './password-check.ts'
import {
  createPortalSessions,
  type PortalSessionsOptions,
  type SignedIn,
  type Viewer,
} from './portal-sessions.ts'

export interface SignInAttempt {
  readonly email: string
  readonly password: string
  /** Default: none. */
  readonly clientTokens?: readonly string[]
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

export interface SignInOptions extends PortalSessionsOptions {
  readonly passwords: Passwords
  readonly check: PasswordCheck
}

export function createSignIn(options: SignInOptions): SignIn {
  const { store, passwords, check, knownClients, clock } = options
  const sessions = createPortalSessions(options)

  async function signIn({ email, password, clientTokens = [] }: SignInAttempt, visitor: Visitor) {
    await check.admit(email, visitor)
    const found = email.length > emailLengthMax ? undefined : await store.findAccountByEmail(email)
    const client = found && knownClients.find(found.id, clientTokens)
    const account = await check.verify({ email, account: found, password, visitor, client })
    if (account.isDisabled) throw new GatehouseError('account-disabled', { accountId: account.id })
    return sessions.start(await rehashIfNeeded(account, password, visitor), visitor, client)
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
    return sessions.start(changed, visitor)
  }

  async function setPassword(
    { account, password, proof, action }: NewPassword,
    visitor: Visitor,
  ): Promise<Account | undefined> {
    const hashed = await passwords.hash(password, workOwnerOf(visitor, true))
    const change = { password: hashed, proof, endsSessions: true }
    const outcome = await store.setPassword(
      account.id,
      change,
      ownAuditEntry({ account, action }, visitor, clock),
    )
    if (outcome !== 'set') return undefined
    const changed = await store.findAccount(account.id)
    return changed?.portal.password === hashed ? changed : undefined
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
    return sessions.start(changed, visitor)
  }

  return {
    signIn,
    redeemSetupLink,
    find: sessions.find,
    confirm,
    changePassword,
    signOut: sessions.end,
    signOutEverywhere: sessions.endAll,
  }
}

interface NewPassword {
  readonly account: Account
  readonly password: string
  readonly proof: PasswordProof
  readonly action: 'password-set' | 'password-changed'
}
