import { emailLengthMax } from '#accounts/account-input.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { assertGoodPassword } from '#platform/secrets/passwords.ts'
import type { Account } from '#store/accounts.ts'
import type { Visitor } from '#store/sessions.ts'
import type { PasswordCheck } from '../passwords/password-check.ts'
import {
  createPasswordLinks,
  createPasswordSetter,
  createRehashing,
  type PasswordLinks,
  type PasswordResets,
  type PasswordSetterOptions,
} from '../passwords/password-links.ts'
import type { PasskeyGiven } from '../second-factor/passkey-check.ts'
import type { Passkeys } from '../second-factor/passkeys.ts'
import {
  type SecondFactorChoice,
  SecondFactorNeeded,
  type SecondFactors,
} from '../second-factor/second-factors.ts'
import type { Viewer } from '../tokens/issued-tokens.ts'
import { hasSameProofs, type KnownClients, type PortalSessions, type SignedIn } from './portal-sessions.ts'

interface SignInAttempt {
  readonly email: string
  readonly password: string
  /** Default: none. */
  readonly clientTokens?: readonly string[]
}

/**
 * Sign-in and sign-out of the portal. A portal session is looked up in the store at each request, never in a cache: its
 * end takes effect on every instance at once, and while the store is unreachable the response is 503.
 */
export interface SignIn extends Pick<PortalSessions, 'find' | 'renewTokens' | 'canResume'> {
  /**
   * Starts a session. A wrong password, an unknown e-mail and an account without a password get the same response after
   * the same time.
   * @param attempt `clientTokens`: those of browsers that have signed in before
   * @param visitor one `address` may use only a share of the queue of password checks
   * @throws GatehouseError `credentials-invalid`, `account-disabled` (for the right password), `sign-in-busy` (503),
   *   `too-many-failures` (429); SecondFactorNeeded for the right password of an account with one
   */
  signIn(attempt: SignInAttempt, visitor: Visitor): Promise<SignedIn>
  /**
   * Continues after SecondFactorNeeded.
   * @throws GatehouseError `request-invalid` (field `code`), `credentials-invalid` (it took too long, or the password
   * was changed), `account-disabled`, `too-many-failures`
   */
  signInWithSecondFactor(attempt: SecondFactorAttempt, visitor: Visitor): Promise<SignedIn>
  /** How the sign-in can go on after SecondFactorNeeded; undefined = it took too long, or the password was changed. */
  findPending(pending: string): Promise<(SecondFactorChoice & { readonly account: Account }) | undefined>
  /** undefined = there are none: the portal is not at an origin for them, or passwords are not accepted either. */
  readonly passkeys: Passkeys | undefined
  /**
   * Signs in without a password.
   * @throws GatehouseError `credentials-invalid`, `account-disabled`, `too-many-failures`, `rate-limited`
   */
  signInWithPasskey(attempt: PasskeyAttempt): Promise<SignedIn>
  readonly factors: Omit<SecondFactors, 'createPending' | 'findPending'>
  readonly links: Pick<PasswordLinks, 'check'>
  /**
   * Sets the first password, or a new one, with the token of a link, and signs in. All other portal sessions of the
   * account end.
   * @returns undefined where a second factor is needed to sign in
   * @throws GatehouseError as PasswordLinks
   */
  redeemLink(...given: Parameters<PasswordLinks['redeem']>): Promise<SignedIn | undefined>
  /**
   * Checks the password again, as somebody else may be at the keyboard.
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

interface SignInOptions extends PasswordSetterOptions {
  readonly sessions: PortalSessions
  readonly knownClients: Pick<KnownClients, 'find'>
  readonly check: PasswordCheck
  readonly factors: SecondFactors
  readonly passkeys: Passkeys | undefined
}

interface PasskeyAttempt extends PasskeyGiven {
  readonly clientTokens: readonly string[]
}

interface SecondFactorAttempt {
  /** The `pending` of a SecondFactorNeeded. */
  readonly pending: string
  /** A code as it was typed, or a passkey. */
  readonly given: string | Pick<PasskeyGiven, 'credential' | 'flow'>
  readonly clientTokens: readonly string[]
}

export function createSignIn(options: SignInOptions): SignIn {
  const { store, sessions, check, factors, passkeys, knownClients } = options
  const links = createPasswordLinks(options)
  const setPassword = createPasswordSetter(options)
  const rehashIfNeeded = createRehashing(options)

  async function signIn({ email, password, clientTokens = [] }: SignInAttempt, visitor: Visitor) {
    await check.admit(email, visitor)
    const found = email.length > emailLengthMax ? undefined : await store.findAccountByEmail(email)
    const client = found && knownClients.find(found.id, clientTokens)
    const account = await check.verify({ email, account: found, password, visitor, client })
    if (account.isDisabled) throw new GatehouseError('account-disabled', { accountId: account.id })
    const current = await rehashIfNeeded(account, password, visitor)
    if (current.portal.secondFactor) throw new SecondFactorNeeded(factors.createPending(current))
    return sessions.start(current, visitor, { client })
  }

  async function signInWithSecondFactor(
    { pending, given, clientTokens }: SecondFactorAttempt,
    visitor: Visitor,
  ) {
    const account = await factors.findPending(pending)
    if (!account) throw new GatehouseError('credentials-invalid')
    if (account.isDisabled) throw new GatehouseError('account-disabled', { accountId: account.id })
    const client = knownClients.find(account.id, clientTokens)
    const current =
      typeof given === 'string'
        ? await factors.check(account, { code: given, visitor, client })
        : await passkeys?.check(account, { ...given, visitor, client })
    // What voids the right password may have happened since it was found to be right.
    if (!current || current.portal.epoch !== account.portal.epoch || !hasSameProofs(current, account))
      throw new GatehouseError('credentials-invalid')
    return sessions.start(current, visitor, { client })
  }

  async function findPending(pending: string) {
    const account = await factors.findPending(pending)
    const { secondFactor } = account?.portal ?? {}
    if (!account || !secondFactor) return undefined
    const hasPasskeys = passkeys !== undefined && (secondFactor.passkeys ?? []).length > 0
    return { account, hasApp: secondFactor.sealed !== undefined, hasPasskeys }
  }

  async function signInWithPasskey({ clientTokens, ...given }: PasskeyAttempt): Promise<SignedIn> {
    if (!passkeys) throw new GatehouseError('credentials-invalid')
    const { account, passkey } = await passkeys.signIn(given)
    const client = knownClients.find(account.id, clientTokens)
    return sessions.start(account, given.visitor, { client, passkey })
  }

  const redeemLink: SignIn['redeemLink'] = async (link, visitor) => {
    const account = await links.redeem(link, visitor)
    return account.portal.secondFactor ? undefined : sessions.start(account, visitor)
  }

  /** A browser with a session counts as a known client. */
  async function confirm({ account, session }: Viewer, password: string, visitor: Visitor): Promise<void> {
    const { email } = account
    await check.admit(email, visitor)
    await check.verify({ email, account, password, visitor, client: session.id })
  }

  const changePassword: SignIn['changePassword'] = async (viewer, { current, password }, visitor) => {
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
    signInWithSecondFactor,
    findPending,
    passkeys,
    signInWithPasskey,
    factors,
    links,
    redeemLink,
    find: sessions.find,
    confirm,
    changePassword,
    renewTokens: sessions.renewTokens,
    canResume: sessions.canResume,
    signOut: sessions.end,
    signOutEverywhere: sessions.endAll,
  }
}

interface WithoutPasswords {
  readonly signIn: SignIn
  readonly passwordResets: PasswordResets
}

/**
 * The operations on passwords if they are not accepted: nobody can sign in or confirm with one, and none can be set.
 * @param label the name of the provider at which people sign in, for messages
 */
export function withoutPasswords(
  { signIn, passwordResets }: WithoutPasswords,
  label: string,
): WithoutPasswords {
  async function refuse(): Promise<never> {
    throw new GatehouseError('sign-in-refused', {
      detail: `Passwords are not accepted here: sign in with ${label}.`,
      cause: new Error('portal.oidc.passwords is false'),
    })
  }
  return {
    signIn: {
      ...signIn,
      signIn: refuse,
      signInWithSecondFactor: refuse,
      passkeys: undefined,
      signInWithPasskey: refuse,
      links: { ...signIn.links, check: refuse },
      redeemLink: refuse,
      confirm: refuse,
      changePassword: refuse,
    },
    passwordResets: { ...passwordResets, canSend: false, request: refuse },
  }
}
