import { GatehouseError } from '../errors/gatehouse-error.ts'
import type { Clock } from '../platform/clock.ts'
import { createLinkToken, parseLinkToken } from '../secrets/portal-tokens.ts'
import { type Account, emailKey } from '../store/account.ts'
import type { AccountReader } from '../store/accounts.ts'
import type { PortalStore } from '../store/portal.ts'
import type { Rate, RateResult } from '../store/rates.ts'
import type { Visitor } from '../store/visitor.ts'
import { assertValid } from './account-input.ts'
import type { Accounts } from './accounts.ts'
import { type AuditEntryFactory, createAuditEntryFactory } from './audit-entry-factory.ts'

/** What users may change in their own account, and the verification of their e-mail. */
export interface OwnProfile {
  /** @throws GatehouseError `request-invalid` (fields `firstName`, `lastName`), `account-not-found` */
  rename(id: string, names: { readonly firstName: string; readonly lastName: string }): Promise<Account>
  /** Whether verifications can be sent at all (config `mail`); if not, an Admin verifies and changes e-mails. */
  readonly canSend: boolean
  /**
   * Sends a link that verifies an e-mail: the current or a new one of the account. The account changes only
   * when the link is used, and only the last link works, for an hour.
   * @throws GatehouseError `request-invalid` (field `email`), `account-exists`, `mail-unavailable` (503: not
   *   configured, or the server rejected it), `rate-limited` (3 in an hour for an account)
   */
  sendVerification(id: string, email: string): Promise<void>
}

/** Redeems verification links: the user need not be signed in. */
export interface EmailVerification {
  /**
   * Redeems a link: sets the account's e-mail to that of the link, verified.
   * @throws GatehouseError `link-invalid`, `account-exists` (another account has taken the e-mail meanwhile)
   */
  verify(token: string, visitor: Visitor): Promise<Account>
}

/** Sends a mail. @throws GatehouseError `mail-unavailable` where the server rejected the mail */
export type SendMail = (mail: Mail) => Promise<void>

export interface Mail {
  readonly to: string
  readonly subject: string
  readonly text: string
}

export interface ProfileOptions {
  readonly store: Pick<AccountReader, 'findAccountByEmail'> & Pick<PortalStore, 'setEmailLink'>
  readonly accounts: Accounts
  readonly entry: AuditEntryFactory
  /** The portal's URL as clients see it: `https://api.example.com/portal`. */
  readonly portalUrl: string
  /** undefined = no mail can be sent. */
  readonly sendMail: SendMail | undefined
  readonly limiter: { take(purpose: string, subject: string, rate: Rate): RateResult | Promise<RateResult> }
  readonly clock: Clock
}

/** How long a verification works, and how many may be sent for one account. */
const verificationLifetimeMs = 3_600_000
const verificationRate: Rate = { limit: 3, perMs: 3_600_000 }

export function createProfile(options: ProfileOptions): OwnProfile {
  const { store, accounts, entry, portalUrl, sendMail, limiter, clock } = options

  async function sendVerification(id: string, email: string): Promise<void> {
    assertValid({ email })
    if (!sendMail) throw new GatehouseError('mail-unavailable')
    const account = await accounts.find(id)
    const holder = await store.findAccountByEmail(email)
    if (holder && holder.id !== account.id) throw new GatehouseError('account-exists')
    const rateResult = await limiter.take('verification', account.id, verificationRate)
    if (!rateResult.isAllowed) {
      throw new GatehouseError('rate-limited', { rate: { limit: verificationRate.limit, ...rateResult } })
    }
    const { token, digest } = createLinkToken('email', account.id)
    const link = { digest, expiresAt: clock() + verificationLifetimeMs, email }
    const isNew = emailKey(email) !== emailKey(account.email)
    const details = { email, isNew }
    await store.setEmailLink(account.id, link, entry('email-verification-sent', account, details))
    await sendMail(verificationMail(email, `${portalUrl}/verify#${token}`))
  }

  return {
    rename: (id, { firstName, lastName }) => accounts.update(id, { firstName, lastName }),
    canSend: sendMail !== undefined,
    sendVerification,
  }
}

function verificationMail(to: string, url: string): Mail {
  return {
    to,
    subject: 'Verify your e-mail address',
    text: [
      'Open this link to verify your e-mail address:',
      '',
      url,
      '',
      'It works once, within an hour. If you did not request this, ignore this e-mail.',
      '',
    ].join('\n'),
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
    verify: async (text, { address }) => {
      const token = parseLinkToken('email', text)
      const account = token && (await store.findAccount(token.accountId))
      if (!token || !account) throw new GatehouseError('link-invalid')
      const { id, email } = account
      const entry = createAuditEntryFactory({ kind: 'account', channel: 'portal', id, email, address }, clock)
      const { digest } = token
      const verified = entry('email-verified', account, { email: account.portal.emailLink?.email ?? email })
      const outcome = await store.redeemEmailLink(id, { digest, now: clock() }, verified)
      if (outcome === 'exists') throw new GatehouseError('account-exists')
      const changed = outcome === 'verified' ? await store.findAccount(id) : undefined
      if (!changed) throw new GatehouseError('link-invalid')
      return changed
    },
  }
}
