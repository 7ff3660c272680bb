import { setImmediate } from 'node:timers/promises'
import type { EpochMs } from '#platform/time.ts'
import type { AuditEntry } from './audit-entry.ts'
import { hasBeenUsed, type PortalAccess } from './portal-access.ts'
import type { SecretKey, StoredKey } from './secret-keys.ts'

export interface Account {
  readonly id: string
  readonly email: string
  readonly firstName: string
  readonly lastName: string
  readonly role: string
  readonly isVerified: boolean
  readonly isDisabled: boolean
  readonly createdAt: EpochMs
  /** Counts every change of the account. */
  readonly revision: number
  /** Counts how many times all sessions were ended: a session of an earlier epoch is invalid. */
  readonly sessionEpoch: number
  /** Counts the roles that the account has had, from 1: an access token of an earlier epoch is invalid. */
  readonly roleEpoch: number
  /**
   * In the order in which they were made. During the overlap of a reset there are two called `default`, of which the
   * earlier one has `revokedAt`.
   */
  readonly secretKeys: readonly SecretKey[]
  readonly apiKey: StoredKey
  /** The name of its plan; undefined = none, so its use is not limited. */
  readonly plan: string | undefined
  /** The name of the `gatehouse apply` state that lists it; absent = none does. */
  readonly managedBy?: string | undefined
  readonly portal: PortalAccess
}

/** The role that may manage every account. */
export const adminRole = 'Admin'

/** Whether an account can manage every account now. A store that has such an account always keeps one. */
export function isActiveAdmin({ role, isDisabled }: Pick<Account, 'role' | 'isDisabled'>): boolean {
  return role === adminRole && !isDisabled
}

/**
 * Whether somebody other than the person with its e-mail may have a password, a session or a key of the account. If so,
 * linking it with that person requires a proof. If the account is already linked with a person at another provider,
 * that person is known to have had the e-mail, as long as it is verified.
 */
export function mayBeAnothers({ portal, isVerified }: Pick<Account, 'portal' | 'isVerified'>): boolean {
  return portal.identities.length === 0 ? hasBeenUsed(portal) : !isVerified
}

/** The form in which e-mails are compared: without case and surrounding space. */
export function emailKey(email: string): string {
  return email.trim().normalize('NFC').toLowerCase()
}

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
  readonly updateAccount: AccountVerb<AccountChanges, AccountUpdate>
  /** Removes an account with its keys and sessions; `last-admin` as for updateAccount. */
  deleteAccount(id: string, audit?: AuditEntry): Promise<AccountDeletion>
}

/** A change of one account; the entry is written in the same step. */
export type AccountVerb<Input, Result = boolean> = (
  accountId: string,
  input: Input,
  audit?: AuditEntry,
) => Promise<Result>

export type AccountDeletion = 'deleted' | 'unknown' | 'last-admin'

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

/** By the time of creation, or by e-mail in the order of its bytes. */
export const accountOrders = ['newest', 'oldest', 'email'] as const

export type AccountOrder = (typeof accountOrders)[number]

/** Which accounts to list; an undefined member matches all. */
export interface AccountFilter {
  /** Each is somewhere in the e-mail or the names, without case; in the form of `wordsOf`. */
  readonly words: readonly string[]
  readonly role: string | undefined
  /** null = those without a plan. */
  readonly plan: string | null | undefined
  readonly isDisabled: boolean | undefined
  /** A UTC day: active on that day or later. */
  readonly activeSince: number | undefined
  /** A UTC day: created before that day, and not active since. */
  readonly inactiveSince: number | undefined
}

/** An account with the last UTC day on which it sent a request, used a key or was in the portal; undefined = never. */
export interface ListedAccount extends Account {
  readonly lastActiveDay: number | undefined
}

/** A place in an order: the time of creation, or the e-mail as it is compared; and the ID. */
export interface AccountPosition {
  readonly key: string | number
  readonly id: string
}

export interface FilterPage {
  readonly filter: AccountFilter
  readonly order: AccountOrder
  readonly after: AccountPosition | undefined
  readonly limit: number
}

export interface FilteredAccounts {
  readonly accounts: readonly ListedAccount[]
  /** `after` for what follows, also if nothing was found yet; undefined = the end. */
  readonly next: AccountPosition | undefined
}
