import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import type { Actor } from '#store/audit-entry.ts'
import type { SecondFactorStore } from '#store/portal.ts'
import type { Accounts } from './accounts.ts'
import type { AuditEntryFactory } from './audit-entry-factory.ts'

/** Removes the second factor of somebody who has lost it, and the recovery codes too. */
export interface SecondFactorReset {
  /**
   * @returns false where the account has none
   * @throws GatehouseError `account-not-found`, `own-account` (one's own is disabled with a code)
   */
  reset(idOrEmail: string): Promise<boolean>
}

export interface SecondFactorResetOptions {
  readonly store: Pick<SecondFactorStore, 'disableSecondFactor'>
  readonly accounts: Accounts
  readonly by: Actor
  readonly entry: AuditEntryFactory
}

export function createSecondFactorReset({
  store,
  accounts,
  by,
  entry,
}: SecondFactorResetOptions): SecondFactorReset {
  return {
    reset: async (idOrEmail) => {
      const account = await accounts.find(idOrEmail)
      if (by.kind === 'account' && by.id === account.id) throw new GatehouseError('own-account')
      return store.disableSecondFactor(account.id, entry('second-factor-reset', account))
    },
  }
}
