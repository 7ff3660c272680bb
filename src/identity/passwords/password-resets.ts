import { hash } from 'node:crypto'
import { assertValid } from '#accounts/account-input.ts'
import { createAuditEntryFactory } from '#accounts/audit-entry-factory.ts'
import { resetMail } from '#accounts/mails/link-mails.ts'
import type { Outbox } from '#accounts/mails/outbox.ts'
import type { SendMail } from '#accounts/profile.ts'
import { clientNetwork } from '#platform/addresses.ts'
import type { Clock } from '#platform/clock.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { createLinkToken } from '#platform/secrets/opaque-tokens.ts'
import { emailKey } from '#store/account.ts'
import type { AccountReader } from '#store/accounts.ts'
import type { PortalStore } from '#store/portal.ts'
import type { Rate } from '#store/rates.ts'
import type { Visitor } from '#store/sessions.ts'
import { takeOrThrow } from '../limits/limits.ts'
import type { RateLimiter } from '../limits/rate-limiter.ts'

/** Forgotten passwords: a link is mailed to the account's e-mail. */
export interface PasswordResets {
  /** Whether links can be sent at all (config `mail`); if not, an Admin makes a set-up link. */
  readonly canSend: boolean
  /** How long a link works. */
  readonly linkLifetimeMs: number
  /**
   * Has a link mailed, if an account has this e-mail and is not disabled. Resolves before that is known: the answer, and
   * its time, are the same for every e-mail.
   * @throws GatehouseError `request-invalid` (field `email`), `rate-limited` (10 an hour for a client network, 3 for an
   *   e-mail, of an account or not), `mail-unavailable` (no mail is configured)
   */
  request(email: string, visitor: Visitor): Promise<void>
}

export interface PasswordResetsOptions {
  readonly store: Pick<AccountReader, 'findAccountByEmail'> & Pick<PortalStore, 'setResetLink'>
  readonly limiter: Pick<RateLimiter, 'take'>
  readonly outbox: Pick<Outbox, 'add'>
  /** undefined = no mail can be sent. */
  readonly sendMail: SendMail | undefined
  /** The portal's URL as clients see it. */
  readonly portalUrl: string
  /** `portal.resetLinkLifetime`. */
  readonly linkLifetimeMs: number
  readonly clock: Clock
}

const hourMs = 3_600_000
const addressRate: Rate = { limit: 10, perMs: hourMs }
const emailRate: Rate = { limit: 3, perMs: hourMs }

export function createPasswordResets(options: PasswordResetsOptions): PasswordResets {
  const { store, limiter, outbox, sendMail, portalUrl, linkLifetimeMs, clock } = options
  const entry = createAuditEntryFactory({ kind: 'system', channel: 'system' }, clock)

  async function mailLink(email: string, { address }: Visitor, send: SendMail): Promise<void> {
    const account = await store.findAccountByEmail(email)
    if (!account || account.isDisabled) return
    const { id, email: to } = account
    const { token, digest } = createLinkToken('reset', id)
    const expiresAt = clock() + linkLifetimeMs
    const requested = entry('password-reset-requested', account, { address })
    await store.setResetLink(id, { digest, expiresAt, sentTo: to }, requested)
    await send(resetMail({ to, url: `${portalUrl}/setup#${token}`, lifetimeMs: linkLifetimeMs, expiresAt }))
  }

  return {
    canSend: sendMail !== undefined,
    linkLifetimeMs,
    request: async (email, visitor) => {
      if (!sendMail) throw new GatehouseError('mail-unavailable')
      assertValid({ email })
      await takeOrThrow(limiter, 'forgotten', clientNetwork(visitor.address), addressRate)
      // By its digest: an unknown e-mail counts as one of an account does, and keys in memory stay short.
      await takeOrThrow(limiter, 'forgotten', hash('sha256', emailKey(email), 'base64url'), emailRate)
      outbox.add({ about: { mail: 'forgotten password' }, run: () => mailLink(email, visitor, sendMail) })
    },
  }
}
