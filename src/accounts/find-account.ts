import type { Account } from '#store/account.ts'
import type { AccountReader } from '#store/accounts.ts'

/** All that keys and sessions need of the accounts. */
export interface AccountFinder {
  /** @throws GatehouseError `account-not-found` */
  find(idOrEmail: string): Promise<Account>
}

export function findByIdOrEmail(store: AccountReader, idOrEmail: string): Promise<Account | undefined> {
  return idOrEmail.includes('@') ? store.findAccountByEmail(idOrEmail) : store.findAccount(idOrEmail)
}
