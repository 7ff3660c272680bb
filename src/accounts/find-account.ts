import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import type { Account, AccountReader } from '#store/accounts.ts'
import type { Actor } from '#store/audit-entry.ts'

/** All that keys and sessions need of the accounts. */
export interface AccountFinder {
  /** @throws GatehouseError `account-not-found` */
  find(idOrEmail: string): Promise<Account>
}

/** The account was deleted after it was looked up, or never existed. */
export function accountNotFound(): never {
  throw new GatehouseError('account-not-found')
}

/** Keeps people from locking themselves out; the store makes sure that an Admin is left. */
export function assertNotOwn(by: Actor, id: string): void {
  if (by.kind === 'account' && by.id === id) throw new GatehouseError('own-account')
}

export function findByIdOrEmail(store: AccountReader, idOrEmail: string): Promise<Account | undefined> {
  return idOrEmail.includes('@') ? store.findAccountByEmail(idOrEmail) : store.findAccount(idOrEmail)
}
