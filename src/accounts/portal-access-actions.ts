import type { Actor } from '#store/audit-entry.ts'
import type { PortalStore } from '#store/portal.ts'
import { type AccountLookup, assertNotOwn } from './account-input.ts'
import type { AuditEntryFactory } from './audit-log.ts'

/** What Admins can take away from the ways of signing in to an account in the portal. */
export interface PortalAccessActions {
  /**
   * Removes all links of the account with people at OpenID providers, and ends its portal sessions. After that,
   * whoever next comes from a provider with the account's e-mail, verified there, is linked to the account.
   * @returns whether there were any links
   * @throws GatehouseError `account-not-found`
   */
  unlinkIdentities(idOrEmail: string): Promise<boolean>
  /**
   * Removes the second factor of somebody who has lost it: app, passkeys and recovery codes.
   * @returns whether the account had one
   * @throws GatehouseError `account-not-found`, `own-account` (one's own is disabled with a code)
   */
  resetSecondFactor(idOrEmail: string): Promise<boolean>
}

interface PortalAccessActionsOptions {
  readonly store: Pick<PortalStore, 'unlinkIdentities' | 'disableSecondFactor'>
  readonly accounts: AccountLookup
  /** Who acts: nobody resets their own second factor. */
  readonly by: Actor
  readonly entry: AuditEntryFactory
}

export function createPortalAccessActions({
  store,
  accounts,
  by,
  entry,
}: PortalAccessActionsOptions): PortalAccessActions {
  return {
    unlinkIdentities: async (idOrEmail) => {
      const account = await accounts.get(idOrEmail)
      const { identities } = account.portal
      const issuer = identities.map((identity) => identity.issuer).join(', ')
      const subject = identities.map((identity) => identity.subject).join(', ')
      return store.unlinkIdentities(account.id, entry('identity-unlinked', account, { issuer, subject }))
    },
    resetSecondFactor: async (idOrEmail) => {
      const account = await accounts.get(idOrEmail)
      assertNotOwn(by, account.id)
      return store.disableSecondFactor(account.id, 'all', entry('second-factor-reset', account))
    },
  }
}
