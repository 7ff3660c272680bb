import { setImmediate } from 'node:timers/promises'
import type { Account } from './account.ts'
import type { AccountFilter, FilteredAccounts, FilterPage, ListedAccount } from './account-filter.ts'
import type { AuditEntry } from './audit-entry.ts'

/** The part of the accounts that most code uses. */
export interface AccountReader {
  findAccount(id: string): Promise<Account | undefined>
  /** @param email compared without case */
  findAccountByEmail(email: string): Promise<Account | undefined>
}

export interface AccountStore extends AccountReader {
  /** Creates all accounts, or none if an e-mail is taken or appears twice. */
  createAccounts(accounts: readonly Account[], audit?: readonly AuditEntry[]): Promise<AccountCreation>
  /**
   * Creates many accounts, which come batch by batch and are never in memory together. SQLite writes them in one
   * transaction, during which nobody else can write. Redis writes them batch by batch, and deletes them again if one
   * cannot be created or the batches fail; only if the process is killed, or Redis is gone, some of them remain.
   * @throws what the batches throw, after everything is undone
   */
  importAccounts(batches: AsyncIterable<AccountBatch>): Promise<AccountCreation>
  /**
   * Accounts, newest first, those of the same time by descending ID, starting after `after`, which may have been
   * deleted.
   */
  listAccounts(page: AccountsPage): Promise<readonly Account[]>
  /**
   * Accounts that pass a filter. One call scans a part of the list that takes a few milliseconds, and may find nothing
   * there: as long as there is a `next`, there may be more.
   */
  filterAccounts(page: FilterPage): Promise<FilteredAccounts>
  /** How many accounts there are: takes as long for a million as for one. */
  countAccounts(): Promise<number>
  /** Accounts that match some words, in the order of the term index. */
  searchAccounts(page: SearchPage): Promise<SearchResult>
  /**
   * Disabling ends the sessions; enabling the account later does not restore them. `last-admin`: it is the only Admin
   * that is not disabled, and the change would end that.
   */
  updateAccount(id: string, changes: AccountChanges, audit?: AuditEntry): Promise<AccountUpdate>
  /** Removes an account with its keys and sessions; `last-admin` as for updateAccount. */
  deleteAccount(id: string, audit?: AuditEntry): Promise<'deleted' | 'unknown' | 'last-admin'>
}

/** Accounts to create, and the entries of the audit log about them. */
export interface AccountBatch {
  readonly accounts: readonly Account[]
  readonly audit: readonly AuditEntry[]
}

export interface AccountsPage {
  readonly after: Pick<Account, 'id' | 'createdAt'> | undefined
  readonly limit: number
}

/** A cursor in the term index: a term of an account, and its ID. */
export interface TermEntry {
  readonly term: string
  readonly id: string
}

export interface SearchPage {
  /** Words in lower case, at least one. */
  readonly words: readonly string[]
  /** Leaves out what does not pass; default: nothing. */
  readonly filter?: AccountFilter
  readonly after: TermEntry | undefined
  readonly limit: number
}

export interface SearchResult {
  readonly accounts: readonly ListedAccount[]
  /** `after` of the next page; undefined = this is the last. */
  readonly next: TermEntry | undefined
}

export type AccountCreation =
  | { readonly kind: 'created' }
  | { readonly kind: 'exists'; readonly emails: readonly string[] }

export type AccountChanges = Partial<
  Pick<
    Account,
    'email' | 'firstName' | 'lastName' | 'role' | 'isVerified' | 'isDisabled' | 'plan' | 'managedBy'
  >
>

export type AccountUpdate =
  | { readonly kind: 'updated'; readonly account: Account }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'exists' }
  | { readonly kind: 'last-admin' }

/** Yields all accounts, newest first, in pages; other requests run in between, as SQLite is synchronous. */
export async function* readAllAccounts(
  store: Pick<AccountStore, 'listAccounts'>,
  limit: number,
): AsyncGenerator<readonly Account[]> {
  let after: Account | undefined
  for (;;) {
    const page = await store.listAccounts({ after, limit })
    after = page.at(-1)
    // A page may be short before the end, as accounts that are deleted meanwhile are missing.
    if (!after) return
    yield page
    await setImmediate()
  }
}
