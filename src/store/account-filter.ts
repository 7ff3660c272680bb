import { startOfDay } from '#platform/time.ts'
import {
  type Account,
  type AccountFilter,
  type AccountOrder,
  type AccountPosition,
  emailKey,
  type ListedAccount,
} from './accounts.ts'

export const everyAccount: AccountFilter = {
  words: [],
  role: undefined,
  plan: undefined,
  isDisabled: undefined,
  activeSince: undefined,
  inactiveSince: undefined,
}

/** Whether every account passes. */
export function matchesEvery({ words, ...others }: AccountFilter): boolean {
  return words.length === 0 && Object.values(others).every((value) => value === undefined)
}

/** Whether it asks for the last active day. */
export function asksForActivity({ activeSince, inactiveSince }: AccountFilter): boolean {
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
