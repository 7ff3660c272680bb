import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import type { Language } from '#platform/languages.ts'
import { createLinkToken } from '#platform/secrets/link-tokens.ts'
import type { Clock } from '#platform/time.ts'
import { type Account, emailKey } from '#store/accounts.ts'
import type { Actor } from '#store/audit-entry.ts'
import type { PortalStore } from '#store/portal.ts'
import { exceededRateOf, type Rate, type RatePurpose, type RateResult } from '#store/rates.ts'
import { accountNotFound, assertValid } from './account-input.ts'
import type { Accounts } from './accounts.ts'
import type { AuditEntryFactory } from './audit-log.ts'
import { mailTextsFor, mailTo, type SendMail } from './mails/mail.ts'

/** What users may change in their own account, and the verification of their e-mail. */
export interface OwnProfile {
  /** @throws GatehouseError `request-invalid` (fields `firstName`, `lastName`), `account-not-found` */
  rename(id: string, names: { readonly firstName: string; readonly lastName: string }): Promise<Account>
  /** @param language undefined = as the browser prefers. @throws GatehouseError `account-not-found` */
  setLanguage(id: string, language: Language | undefined): Promise<void>
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
    const account = await accounts.get(id)
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
