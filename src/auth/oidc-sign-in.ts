import type { AccountActionsOf } from '../accounts/account-actions.ts'
import { createAuditEntryFactory, ownAuditEntry } from '../accounts/audit-entry-factory.ts'
import { GatehouseError } from '../errors/gatehouse-error.ts'
import type { Person } from '../oidc/person.ts'
import { clientNetwork } from '../platform/client-network.ts'
import type { Clock } from '../platform/clock.ts'
import type { Account } from '../store/account.ts'
import type { AccountReader } from '../store/accounts.ts'
import type { AuditStore } from '../store/audit.ts'
import type { PortalStore } from '../store/portal.ts'
import type { Rate } from '../store/rates.ts'
import type { Visitor } from '../store/visitor.ts'
import type { KnownClients } from './known-clients.ts'
import { takeOrThrow } from './limits.ts'
import type { PortalSessions, SignedIn } from './portal-sessions.ts'
import type { RateLimiter } from './rate-limiter.ts'

/** Which account a person signs in to whom an OpenID provider has authenticated. */
export interface OidcSignIn {
  /**
   * Starts a session: for the account that is linked with the person; else for the account with the person's verified
   * e-mail, which is linked from then on; else for a new one, where the config names its role.
   * @param clientTokens those of browsers that have signed in before
   * @throws GatehouseError `sign-in-refused`, `account-disabled`; both are in the audit log
   */
  signIn(person: Person, clientTokens: readonly string[], visitor: Visitor): Promise<SignedIn>
  /**
   * Checks that a person who has authenticated again is the owner of an account.
   * @throws GatehouseError `sign-in-refused`; it is in the audit log
   */
  assertOwner(person: Person, accountId: string, visitor: Visitor): Promise<void>
  /** To be called before the provider is asked about what a browser came back with. @throws GatehouseError `rate-limited` */
  admit(visitor: Visitor): Promise<void>
}

export interface OidcSignInOptions {
  readonly store: AccountReader &
    Pick<PortalStore, 'findAccountByIdentity' | 'linkIdentity'> &
    Pick<AuditStore, 'appendAudit'>
  readonly sessions: Pick<PortalSessions, 'start'>
  readonly knownClients: Pick<KnownClients, 'find'>
  readonly actionsOf: AccountActionsOf
  /** The role of accounts that are made for people who have none; undefined = none is made. */
  readonly provision: string | undefined
  /** The name of the provider, for messages. */
  readonly label: string
  readonly limiter: RateLimiter
  readonly clock: Clock
}

/** How often browsers of one network may come back: each time the provider is asked. */
export const callbackRate: Rate = { limit: 120, perMs: 60_000 }
/** How many refusals each process writes to the audit log. */
const auditRate: Rate = { limit: 1_000, perMs: 3_600_000 }

export function createOidcSignIn(options: OidcSignInOptions): OidcSignIn {
  const { store, sessions, knownClients, actionsOf, provision, label, limiter, clock } = options
  const system = { kind: 'system', channel: 'system' } as const
  const entry = createAuditEntryFactory(system, clock)

  async function signIn(
    person: Person,
    clientTokens: readonly string[],
    visitor: Visitor,
  ): Promise<SignedIn> {
    const { issuer, subject } = person.identity
    const account = await findOrLink(person, visitor)
    try {
      const client = knownClients.find(account.id, clientTokens)
      return await sessions.start(account, visitor, { client, details: { issuer, subject } })
    } catch (error) {
      if (!(error instanceof GatehouseError) || error.code !== 'account-disabled') throw error
      await audit(person, { account, visitor, reason: 'account-disabled' })
      throw new GatehouseError('account-disabled', { accountId: account.id })
    }
  }

  async function findOrLink(person: Person, visitor: Visitor): Promise<Account> {
    const linked = await store.findAccountByIdentity(person.identity)
    if (linked) return linked
    const { email } = person
    if (email === undefined) throw await refuse(person, visitor, 'no-email')
    // Whoever can enter any e-mail at the provider could otherwise sign in to any account.
    if (!person.isEmailVerified) throw await refuse(person, visitor, 'email-unverified')
    const found = (await store.findAccountByEmail(email)) ?? (await provide({ ...person, email }, visitor))
    if (found.isDisabled) return found
    return link({ ...person, email }, found, visitor)
  }

  async function link(person: WithEmail, account: Account, visitor: Visitor): Promise<Account> {
    const { identity, email } = person
    const audited = ownAuditEntry(
      { account, action: 'identity-linked', details: { ...identity } },
      visitor,
      clock,
    )
    const outcome = await store.linkIdentity(account.id, { identity, email }, audited)
    if (outcome !== 'linked') {
      // The same person may have signed in twice at the same moment.
      const linked = await store.findAccountByIdentity(identity)
      if (linked) return linked
      throw await refuse(person, visitor, 'linked-otherwise', account)
    }
    return (await store.findAccountByIdentity(identity)) ?? account
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
    if (!limiter.takeInProcess('audit', 'oidc sign-in-failed', auditRate).isAllowed) return
    const { address } = visitor
    const details = { reason, address, ...identity, ...(email !== undefined && { email }) }
    await store.appendAudit(entry('sign-in-failed', account, details))
  }

  return {
    signIn,
    assertOwner: async (person, accountId, visitor) => {
      const account = await store.findAccountByIdentity(person.identity)
      if (account?.id === accountId && !account.isDisabled) return
      throw await refuse(person, visitor, 'another-person', await store.findAccount(accountId))
    },
    admit: ({ address }) => takeOrThrow(limiter, 'oidc', clientNetwork(address), callbackRate),
  }
}

type WithEmail = Person & { readonly email: string }

type Reason = keyof typeof reasonTexts

/** What people are told: each says what to do. */
const reasonTexts = {
  'no-email': (label: string) =>
    `${label} did not tell your e-mail address. Ask an administrator to let it be told to this gateway.`,
  'email-unverified': (label: string) =>
    `${label} has not verified your e-mail address. Verify it there, then sign in again.`,
  'no-account': () => 'There is no account with your e-mail address. Ask an administrator for one.',
  'another-person': (label: string) =>
    `You confirmed as another person than the one who is signed in here. Choose the same account at ${label}.`,
  'linked-otherwise': (label: string) =>
    `The account with your e-mail address belongs to another user of ${label}. Ask an administrator to unlink it.`,
} as const satisfies Readonly<Record<string, (label: string) => string>>
