import type { AccountActionsOf } from '#accounts/account-actions.ts'
import { createAuditEntryFactory, ownAuditEntry } from '#accounts/audit-log.ts'
import { type KeyOptions, makeDefaultKey, makeKey } from '#accounts/keys/make-key.ts'
import { clientNetwork } from '#platform/addresses.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import type { Clock } from '#platform/time.ts'
import { type Account, type AccountReader, emailKey, mayBeAnothers } from '#store/accounts.ts'
import type { AuditStore } from '#store/audit.ts'
import type { IdentityLink, PortalStore } from '#store/portal.ts'
import type { Rate } from '#store/rates.ts'
import type { Visitor } from '#store/sessions.ts'
import { takeAuditEntry } from '../limits/failures.ts'
import type { RateLimiter } from '../limits/rate-limiter.ts'
import { takeOrThrow } from '../limits/take-rate.ts'
import type { KnownClients, PortalSessionIds, PortalSessions, SignedIn } from '../portal/portal-sessions.ts'
import type { KnownPerson, Person } from './person.ts'

/** Decides which account a person signs in to who was authenticated by an OpenID provider. */
export interface OidcSignIn {
  /**
   * Starts a session: for the account that is linked with the person; else for the account with the person's verified
   * e-mail, which is then linked; else for a new one, if the config names a role for it.
   * @param clientTokens those of browsers that have signed in before
   * @throws GatehouseError `sign-in-refused`, `account-disabled`, both of which are in the audit log; TakeOverNeeded if
   * somebody else may have used the account with this e-mail
   */
  signIn(person: Person, clientTokens: readonly string[], visitor: Visitor): Promise<SignedIn>
  /**
   * Continues after TakeOverNeeded: links the account, ends its password, second factor, sessions and keys, and starts
   * a session.
   * @throws GatehouseError as signIn
   */
  takeOver(person: KnownPerson, clientTokens: readonly string[], visitor: Visitor): Promise<SignedIn>
  /**
   * Checks that a person who has authenticated again is the owner of an account. An account that is not linked, but has
   * the person's verified e-mail, is linked: whoever has a session of it is not a stranger.
   * @param session the portal session in which the person was asked to authenticate again
   * @throws GatehouseError `sign-in-refused`, which is in the audit log
   */
  assertOwner(person: Person, session: PortalSessionIds, visitor: Visitor): Promise<void>
  /**
   * To be called before the provider is asked about the browser's callback.
   * @throws GatehouseError `rate-limited`
   */
  admit(visitor: Visitor): Promise<void>
}

/** The account with the person's e-mail has been used without the provider, perhaps by somebody else. */
export class TakeOverNeeded extends Error {
  readonly person: KnownPerson

  constructor(person: KnownPerson) {
    super('the person has to take over the account, or prove that it is theirs')
    this.person = person
  }
}

interface OidcSignInOptions {
  readonly store: AccountReader &
    Pick<PortalStore, 'findAccountByIdentity' | 'findPortalSession' | 'linkIdentity'> &
    Pick<AuditStore, 'appendAudit'>
  readonly sessions: Pick<PortalSessions, 'start'>
  readonly knownClients: Pick<KnownClients, 'find'>
  readonly actionsOf: AccountActionsOf
  /** For the keys of an account that is taken over. */
  readonly keyOptions: KeyOptions
  /** The role of accounts that are created for people without one; undefined = none is created. */
  readonly provision: string | undefined
  /** The name of the provider, as in messages. */
  readonly label: string
  readonly limiter: RateLimiter
  readonly clock: Clock
}

/** How often browsers of one network may call back: the provider is asked each time. */
const callbackRate: Rate = { limit: 120, perMs: 60_000 }

export function createOidcSignIn(options: OidcSignInOptions): OidcSignIn {
  const { store, sessions, knownClients, actionsOf, keyOptions, provision, label, limiter, clock } = options
  const system = { kind: 'system', channel: 'system' } as const
  const entry = createAuditEntryFactory(system, clock)

  const signIn: OidcSignIn['signIn'] = async (person, clientTokens, visitor) => {
    return start(person, await findOrLink(person, visitor), clientTokens, visitor)
  }

  const takeOver: OidcSignIn['takeOver'] = async ({ identity, email }, clientTokens, visitor) => {
    const person = { identity, email, isEmailVerified: true, firstName: '', lastName: '' }
    const linked = await store.findAccountByIdentity(identity)
    if (linked) return start(person, linked, clientTokens, visitor)
    const found = await store.findAccountByEmail(email)
    if (!found) throw await refuse(person, visitor, 'no-account')
    if (found.isDisabled) return start(person, found, clientTokens, visitor)
    const proof = {
      kind: 'take-over',
      secretKey: makeDefaultKey(found.id, keyOptions).stored,
      apiKey: makeKey('apiKey', found.id, keyOptions).stored,
    } as const
    return start(person, await link(person, found, visitor, proof), clientTokens, visitor)
  }

  async function start(
    person: Person,
    account: Account,
    clientTokens: readonly string[],
    visitor: Visitor,
  ): Promise<SignedIn> {
    const { issuer, subject } = person.identity
    try {
      const client = knownClients.find(account.id, clientTokens)
      return await sessions.start(account, visitor, { client, details: { issuer, subject } })
    } catch (error) {
      if (!(error instanceof GatehouseError) || error.code !== 'account-disabled') throw error
      await audit(person, { account, visitor, reason: 'account-disabled' })
      throw error
    }
  }

  async function findOrLink(person: Person, visitor: Visitor): Promise<Account> {
    const linked = await store.findAccountByIdentity(person.identity)
    if (linked) return linked
    const { email } = person
    if (email === undefined) throw await refuse(person, visitor, 'no-email')
    // Otherwise anybody who can enter any e-mail at the provider could sign in to any account.
    if (!person.isEmailVerified) throw await refuse(person, visitor, 'email-unverified')
    const found = (await store.findAccountByEmail(email)) ?? (await provide({ ...person, email }, visitor))
    if (found.isDisabled) return found
    return link({ ...person, email }, found, visitor)
  }

  async function link(
    person: WithEmail,
    account: Account,
    visitor: Visitor,
    proof?: IdentityLink['proof'],
  ): Promise<Account> {
    const { identity, email } = person
    const details = { ...identity, ...(proof?.kind === 'take-over' && { takenOver: true }) }
    const audited = ownAuditEntry({ account, action: 'identity-linked', details }, visitor, clock)
    const outcome = await store.linkIdentity(account.id, { identity, email, proof }, audited)
    // The same person may have signed in twice at the same time.
    const linked = await store.findAccountByIdentity(identity)
    if (linked) return linked
    if (outcome === 'linked') return account
    const { portal, isVerified } = (await store.findAccount(account.id)) ?? account
    const isOthers = portal.identities.some(({ issuer }) => issuer === identity.issuer)
    if (!proof && !isOthers && mayBeAnothers({ portal, isVerified }))
      throw new TakeOverNeeded({ identity, email })
    throw await refuse(person, visitor, 'linked-otherwise', account)
  }

  const assertOwner: OidcSignIn['assertOwner'] = async (person, { accountId, sessionId }, visitor) => {
    const [linked, account, session] = await Promise.all([
      store.findAccountByIdentity(person.identity),
      store.findAccount(accountId),
      store.findPortalSession(accountId, sessionId),
    ])
    if (account?.isDisabled === false && linked?.id === accountId) return
    const { email, isEmailVerified } = person
    const isOpen = session?.epoch === account?.portal.epoch && clock() < (session?.expiresAt ?? 0)
    if (account && !linked && isOpen && !account.isDisabled && email !== undefined && isEmailVerified) {
      const isTheirs = emailKey(account.email) === emailKey(email)
      const isFree = !account.portal.identities.some(({ issuer }) => issuer === person.identity.issuer)
      if (isTheirs && isFree)
        return void (await link({ ...person, email }, account, visitor, { kind: 'session' }))
    }
    throw await refuse(person, visitor, 'another-person', account)
  }

  async function provide(person: WithEmail, visitor: Visitor): Promise<Account> {
    if (provision === undefined) throw await refuse(person, visitor, 'no-account')
    const { email, firstName, lastName } = person
    const input = { email, firstName, lastName, role: provision, isVerified: true }
    try {
      return (await actionsOf(system).accounts.create(input)).account
    } catch (error) {
      const isTaken = error instanceof GatehouseError && error.code === 'account-exists'
      const found = isTaken ? await store.findAccountByEmail(email) : undefined
      if (!found) throw error
      return found
    }
  }

  /** Records the refusal. @returns the error to throw */
  async function refuse(
    person: Person,
    visitor: Visitor,
    reason: Reason,
    account?: Account,
  ): Promise<GatehouseError> {
    await audit(person, { account, visitor, reason })
    const { issuer } = person.identity
    return new GatehouseError('sign-in-refused', {
      detail: reasonTexts[reason](label),
      accountId: account?.id,
      cause: new Error(`${reason}: a person of ${issuer}`),
    })
  }

  async function audit(
    { identity, email }: Person,
    { account, visitor, reason }: { account: Account | undefined; visitor: Visitor; reason: string },
  ): Promise<void> {
    if (!takeAuditEntry(limiter, 'oidc')) return
    const { address } = visitor
    const details = { reason, address, ...identity, ...(email !== undefined && { email }) }
    await store.appendAudit(entry('sign-in-failed', account, details))
  }

  return {
    signIn,
    takeOver,
    assertOwner,
    admit: ({ address }) => takeOrThrow(limiter, 'oidc', clientNetwork(address), callbackRate),
  }
}

type WithEmail = Person & { readonly email: string }

type Reason = keyof typeof reasonTexts

/** What people are told whose sign-in at a provider was refused; each text says what to do. */
const reasonTexts = {
  'no-email': (label: string) =>
    `${label} did not share your e-mail address. Ask an administrator to share it with this gateway.`,
  'email-unverified': (label: string) =>
    `${label} has not verified your e-mail address. Verify it there, then sign in again.`,
  'no-account': () => 'There is no account with your e-mail address. Ask an administrator for one.',
  'another-person': (label: string) =>
    `You confirmed as somebody else than the person signed in here. Choose the same account at ${label}.`,
  'linked-otherwise': (label: string) =>
    `The account with your e-mail address belongs to another user of ${label}. Ask an administrator to unlink it.`,
} as const satisfies Readonly<Record<string, (label: string) => string>>
