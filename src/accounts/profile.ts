import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { errorMessage } from '#platform/errors/operator-error.ts'
import type { Language } from '#platform/languages.ts'
import { createLinkToken, parseLinkToken } from '#platform/secrets/link-tokens.ts'
import { isSameText } from '#platform/secrets/sealing.ts'
import type { Clock } from '#platform/time.ts'
import { type Account, type AccountReader, emailKey } from '#store/accounts.ts'
import type { Actor } from '#store/audit-entry.ts'
import type { PortalStore } from '#store/portal.ts'
import { exceededRateOf, type Rate, type RatePurpose, type RateResult } from '#store/rates.ts'
import type { Visitor } from '#store/sessions.ts'
import { accountNotFound, assertValid } from './account-input.ts'
import type { Accounts } from './accounts.ts'
import { type AuditEntryFactory, createAuditEntryFactory } from './audit-log.ts'
import { mailTextsFor, mailTo, type SendMail } from './mails/mail.ts'
import type { DeliverMail } from './mails/outbox.ts'

/** What users may change in their own account, and the verification of their e-mail. */
export interface OwnProfile {
  /** @throws GatehouseError `request-invalid` (fields `firstName`, `lastName`), `account-not-found` */
  rename(id: string, names: { readonly firstName: string; readonly lastName: string }): Promise<Account>
  /** @param language undefined = as the browser prefers. @throws GatehouseError `account-not-found` */
  setLanguage(id: string, language: string | undefined): Promise<void>
  /** Whether verifications can be sent at all (config `mail`); if not, an Admin verifies and changes e-mails. */
  readonly canSend: boolean
  /**
   * Sends a link that verifies an e-mail: the current or a new one of the account. The account changes only when the
   * link is used, and only the last link works, for an hour. An e-mail that another account has gets the same answer
   * and the same mail: only whoever reads that mail learns that it is taken, by using the link.
   * @throws GatehouseError `request-invalid` (field `email`), `mail-unavailable` (503: not configured, or the server
   *   rejected it), `rate-limited` (3 in an hour for an account)
   */
  sendVerification(id: string, email: string, language?: Language): Promise<void>
}

/** Redeems verification links, for those who are signed in to the account that asked for them. */
export interface EmailVerification {
  /**
   * Redeems a link: sets the account's e-mail to that of the link, verified. Reading the mail alone is not enough:
   * anybody can ask for anybody's address on their own account, and its owner would verify it for them.
   * @param viewerId the account that is signed in; undefined = none
   * @throws GatehouseError `link-invalid`, `account-exists` (another account has the e-mail); OwnerNeeded
   */
  verify(token: string, viewerId: string | undefined, visitor: Visitor): Promise<Account>
}

/** The link works, but whoever opened it is not signed in to the account that asked for it. */
export class OwnerNeeded extends Error {
  /** The e-mail of that account. */
  readonly account: string
  /** What the link verifies. */
  readonly email: string

  constructor(account: string, email: string) {
    super('the link is not for the account that is signed in')
    this.account = account
    this.email = email
  }
}

export interface ProfileOptions {
  readonly store: Pick<PortalStore, 'setEmailLink' | 'setLanguage'>
  readonly accounts: Accounts
  /** Who asks; the mail says so. */
  readonly by: Actor
  readonly entry: AuditEntryFactory
  /** The portal's URL as clients see it: `https://api.example.com/portal`. */
  readonly portalUrl: string
  /** undefined = no mail can be sent. */
  readonly sendMail: SendMail | undefined
  readonly limiter: {
    take(purpose: RatePurpose, subject: string, rate: Rate): RateResult | Promise<RateResult>
  }
  readonly clock: Clock
}

/** How long a verification works, and how many may be sent for one account. */
const verificationLifetimeMs = 3_600_000
const verificationRate: Rate = { limit: 3, perMs: 3_600_000 }

export function createProfile(options: ProfileOptions): OwnProfile {
  const { store, accounts, by, entry, portalUrl, sendMail, limiter, clock } = options

  async function sendVerification(id: string, email: string, language?: Language): Promise<void> {
    assertValid({ email })
    if (!sendMail) throw new GatehouseError('mail-unavailable')
    const account = await accounts.find(id)
    const rateResult = await limiter.take('verification', account.id, verificationRate)
    if (!rateResult.isAllowed) {
      const rate = exceededRateOf('verification', verificationRate, rateResult)
      throw new GatehouseError('rate-limited', { rate })
    }
    const { token, digest } = createLinkToken('email', account.id)
    const link = { digest, expiresAt: clock() + verificationLifetimeMs, email }
    const isNew = emailKey(email) !== emailKey(account.email)
    const details = { email, isNew }
    await store.setEmailLink(account.id, link, entry('email-verification-sent', account, details))
    const from = by.kind === 'account' ? by.address : undefined
    const asked = { to: email, url: `${portalUrl}/verify#${token}`, account, from, at: clock() }
    await sendMail(mailTo(email, mailTextsFor(account, language).verification(asked)))
  }

  return {
    rename: (id, { firstName, lastName }) => accounts.update(id, { firstName, lastName }),
    setLanguage: async (id, language) => {
      if (!(await store.setLanguage(id, language))) accountNotFound()
    },
    canSend: sendMail !== undefined,
    sendVerification,
  }
}

export function createEmailVerification({
  store,
  clock,
}: {
  readonly store: Pick<AccountReader, 'findAccount'> & Pick<PortalStore, 'redeemEmailLink'>
  readonly clock: Clock
}): EmailVerification {
  return {
    verify: async (text, viewerId, { address }) => {
      const token = parseLinkToken('email', text)
      const account = token && (await store.findAccount(token.accountId))
      const link = account?.portal.emailLink
      if (!token || !link || !isSameText(link.digest, token.digest) || clock() >= link.expiresAt)
        throw new GatehouseError('link-invalid')
      const { id, email } = account
      if (id !== viewerId) throw new OwnerNeeded(email, link.email)
      const entry = createAuditEntryFactory({ kind: 'account', channel: 'portal', id, email, address }, clock)
      const { digest } = token
      const verified = entry('email-verified', account, { email: link.email })
      const outcome = await store.redeemEmailLink(id, { digest, now: clock() }, verified)
      if (outcome === 'exists') throw new GatehouseError('account-exists')
      const changed = outcome === 'verified' ? await store.findAccount(id) : undefined
      if (!changed) throw new GatehouseError('link-invalid')
      return changed
    },
  }
}

/** A one-time link to set a password. */
export interface SetupLink {
  /** `<publicUrl><portal.path>/setup#<token>`: servers and logs never see a fragment. */
  readonly url: string
  readonly token: string
  readonly expiresAt: number
}

export interface SetupLinks {
  /** Creates a link, which replaces the previous one. @throws GatehouseError `account-not-found` */
  create(idOrEmail: string): Promise<SetupLink>
  /** Whether links can be mailed (config `mail`). */
  readonly canMail: boolean
  /**
   * Creates a link, and mails it to the account's e-mail: it works only while the account has that e-mail.
   * @throws GatehouseError `account-not-found`, `mail-unavailable`
   */
  mail(idOrEmail: string): Promise<void>
}

export interface SetupLinksOptions
  extends Pick<ProfileOptions, 'accounts' | 'entry' | 'portalUrl' | 'clock'> {
  readonly store: Pick<PortalStore, 'setSetupLink'>
  /** `portal.setupLinkLifetime`. */
  readonly setupLinkLifetimeMs: number
  /** undefined = no link can be mailed. */
  readonly deliverSetupMail: DeliverMail | undefined
}

export function createSetupLinks(options: SetupLinksOptions): SetupLinks {
  const { store, accounts, entry, portalUrl, setupLinkLifetimeMs, deliverSetupMail, clock } = options

  async function makeLink(account: Account, sentTo?: string): Promise<SetupLink> {
    const { token, digest } = createLinkToken('setup', account.id)
    const expiresAt = clock() + setupLinkLifetimeMs
    const link = { digest, expiresAt, ...(sentTo !== undefined && { sentTo }) }
    const created = entry('setup-link-created', account, { isMailed: sentTo !== undefined })
    // It was deleted meanwhile.
    if (!(await store.setSetupLink(account.id, link, created))) accountNotFound()
    return { url: `${portalUrl}/setup#${token}`, token, expiresAt }
  }

  async function mail(idOrEmail: string): Promise<void> {
    if (!deliverSetupMail) throw new GatehouseError('mail-unavailable')
    const account = await accounts.find(idOrEmail)
    const { email: to } = account
    const { url, expiresAt } = await makeLink(account, to)
    const link = { to, url, expiresAt, lifetimeMs: setupLinkLifetimeMs }
    const text = mailTextsFor(account).setUp(link, portalUrl)
    await deliverSetupMail(mailTo(to, text), { mail: 'set-up link', account: account.id })
  }

  return {
    create: async (idOrEmail) => makeLink(await accounts.find(idOrEmail)),
    canMail: deliverSetupMail !== undefined,
    mail,
  }
}

/**
 * The set-up link of an account that was just created; undefined if it was mailed, or could not be created, with the
 * reason for the log. The response must not fail because of it: the keys are shown only there, and creating the
 * account again would be a 409.
 */
export async function tryCreateSetupLink(
  setupLinks: SetupLinks,
  accountId: string,
  onFailure: (reason: string) => void,
  { isMailed = false }: { readonly isMailed?: boolean } = {},
): Promise<SetupLink | undefined> {
  try {
    if (!isMailed) return await setupLinks.create(accountId)
    await setupLinks.mail(accountId)
    return undefined
  } catch (error) {
    const cause = error instanceof GatehouseError ? (error.cause ?? error) : error
    onFailure(`set-up link not created: ${errorMessage(cause)}`)
    return undefined
  }
}
