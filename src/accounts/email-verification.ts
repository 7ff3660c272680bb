import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { parseLinkToken } from '#platform/secrets/link-tokens.ts'
import { isSameText } from '#platform/secrets/sealing.ts'
import type { Clock } from '#platform/time.ts'
import type { Account, AccountReader } from '#store/accounts.ts'
import type { PortalStore } from '#store/portal.ts'
import type { Visitor } from '#store/sessions.ts'
import { createAuditEntryFactory } from './audit-log.ts'

/**
 * Redeems a verification link: sets the account's e-mail to that of the link, verified. Having the link is not enough:
 * people can ask for somebody else's address to be verified for their own account, and whoever reads the mail would do
 * that for them by opening the link.
 * @param viewerId the account that is signed in; undefined = none
 * @throws GatehouseError `link-invalid`, `account-exists` (another account has the e-mail); OwnerNeeded
 */
export type VerifyEmail = (token: string, viewerId: string | undefined, visitor: Visitor) => Promise<Account>

/** The link works, but whoever opened it is not signed in to the account that asked for it. */
export class OwnerNeeded extends Error {
  /** The e-mail of that account. */
  readonly account: string
  /** The e-mail that the link verifies. */
  readonly email: string

  constructor(account: string, email: string) {
    super('the link is not for the account that is signed in')
    this.account = account
    this.email = email
  }
}

export function createEmailVerifier({
  store,
  clock,
}: {
  readonly store: Pick<AccountReader, 'findAccount'> & Pick<PortalStore, 'redeemEmailLink'>
  readonly clock: Clock
}): VerifyEmail {
  return async (text, viewerId, { address }) => {
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
  }
}
