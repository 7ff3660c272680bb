import type { PortalStore } from '#store/portal.ts'
import type { Accounts } from './accounts.ts'
import type { AuditEntryFactory } from './audit-entry-factory.ts'

/** Whom an OpenID provider knows as the owner of an account. */
export interface IdentityLinks {
  /**
   * Removes the link with a person at the provider, and ends the portal sessions: the next person there whose verified
   * e-mail is that of the account is linked.
   * @returns whether there was one
   * @throws GatehouseError `account-not-found`
   */
  unlink(idOrEmail: string): Promise<boolean>
}

export interface IdentityLinksOptions {
  readonly store: Pick<PortalStore, 'unlinkIdentity'>
  readonly accounts: Accounts
  readonly entry: AuditEntryFactory
}

export function createIdentityLinks({ store, accounts, entry }: IdentityLinksOptions): IdentityLinks {
  return {
    unlink: async (idOrEmail) => {
      const account = await accounts.find(idOrEmail)
      const { issuer = '', subject = '' } = account.portal.identity ?? {}
      return store.unlinkIdentity(account.id, entry('identity-unlinked', account, { issuer, subject }))
    },
  }
}
