import { startOfDay } from '#platform/time.ts'
import { type Account, emailKey } from './account.ts'

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

export const everyAccount: AccountFilter = {
  words: [],
  role: undefined,
  plan: undefined,
  isDisabled: undefined,
  activeSince: undefined,
  inactiveSince: undefined,
}

/** Whether every account passes. */
export function isOfAll({ words, ...others }: AccountFilter): boolean {
  return words.length === 0 && Object.values(others).every((value) => value === undefined)
}

/** Whether it asks for the last active day. */
export function hasActivity({ activeSince, inactiveSince }: AccountFilter): boolean {
  return activeSince !== undefined || inactiveSince !== undefined
}

export function passesFilter(account: ListedAccount, filter: AccountFilter): boolean {
  return passesWithoutActivity(account, filter) && passesActivity(account, filter)
}

/** All but the activity, which is stored apart from the account. */
export function passesWithoutActivity(account: Account, filter: AccountFilter): boolean {
  const { words, role, plan, isDisabled } = filter
  if (role !== undefined && account.role !== role) return false
  if (plan !== undefined && (account.plan ?? null) !== plan) return false
  if (isDisabled !== undefined && account.isDisabled !== isDisabled) return false
  if (words.length === 0) return true
  const text = `${emailKey(account.email)}\n${account.firstName} ${account.lastName}`
    .normalize('NFC')
    .toLowerCase()
  return words.every((word) => text.includes(word))
}

export function passesActivity(
  { createdAt, lastActiveDay = Number.NEGATIVE_INFINITY }: ListedAccount,
  { activeSince, inactiveSince }: AccountFilter,
): boolean {
  if (activeSince !== undefined && lastActiveDay < activeSince) return false
  return (
    inactiveSince === undefined || (createdAt < startOfDay(inactiveSince) && lastActiveDay < inactiveSince)
  )
}

/** A text in lower case that the names or the e-mail of every match contain, so that the store can skip the others. */
export function needleOf({ words }: AccountFilter): string | undefined {
  // The databases put only ASCII letters into lower case.
  const [longest] = words
    .filter((word) => /^[\x20-\x7e]*$/.test(word))
    .toSorted((one, other) => other.length - one.length)
  return longest
}

export function positionOf({ createdAt, email, id }: Account, order: AccountOrder): AccountPosition {
  return { key: order === 'email' ? emailKey(email) : createdAt, id }
}
