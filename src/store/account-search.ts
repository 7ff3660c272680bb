import { startOfDay } from '#platform/time.ts'
import {
  type Account,
  type AccountFilter,
  type AccountOrder,
  type AccountPosition,
  emailKey,
  type ListedAccount,
  type SearchPage,
  type SearchResult,
  type TermEntry,
} from './accounts.ts'

/** What an adapter provides: an index in the byte order of term and ID. */
export interface TermIndex {
  /** Entries whose term begins with a prefix, starting after `after`. */
  find(prefix: string, after: TermEntry | undefined, limit: number): Promise<readonly TermEntry[]>
  load(ids: readonly string[]): Promise<readonly (ListedAccount | undefined)[]>
}

const wordsMax = 8
const termLengthMax = 64
/** The minimum length of a part of an e-mail: a single character is not a term. */
const partLengthMin = 2
/** How many index entries are scanned for one page: if few of many match, pages are short. */
const scannedMax = 500

/** The terms that find an account: its e-mail, each word of its names, the parts of its e-mail and its domain. */
export function termsOf({ email, firstName, lastName }: Pick<Account, 'email' | 'firstName' | 'lastName'>) {
  const key = emailKey(email)
  return [...new Set([key, ...wordsOf(`${firstName} ${lastName}`), ...partsOf(key)])]
}

/** `lovelace` and `example.com` of `ada.lovelace@example.com`; the whole e-mail already covers the first part. */
function partsOf(key: string): readonly string[] {
  const at = key.lastIndexOf('@')
  const [, ...parts] = key.slice(0, at).split(/[^\p{L}\p{N}]+/u)
  return wordsOf([...parts.filter((part) => part.length >= partLengthMin), key.slice(at + 1)].join(' '))
}

/** The words of a name or a query, in the form in which they are compared. */
export function wordsOf(text: string): readonly string[] {
  const words = text
    .normalize('NFC')
    .toLowerCase()
    .split(/[\s\p{Cc}]+/u)
  return words
    .filter((word) => word !== '')
    .slice(0, wordsMax)
    .map((word) => [...word].slice(0, termLengthMax).join(''))
}

/** Accounts with a term that begins with each word: found in the index by one word, and checked for the others. */
export async function search(
  index: TermIndex,
  { words, filter = everyAccount, after, limit }: SearchPage,
): Promise<SearchResult> {
  const prefix = words.toSorted((a, b) => selectivity(b) - selectivity(a))[0] ?? ''
  const accounts: ListedAccount[] = []
  let cursor = after
  for (let scanned = 0; scanned < scannedMax; ) {
    const batchMax = Math.min(scannedMax, limit + 1)
    const entries = await index.find(prefix, cursor, batchMax)
    const found = await index.load(entries.map(({ id }) => id))
    for (const [position, entry] of entries.entries()) {
      const account = found[position]
      const isMatch = account && isFirstMatch(termsOf(account), entry.term, { prefix, words })
      if (isMatch && passesFilter(account, filter)) {
        if (accounts.length === limit) return { accounts, next: cursor }
        accounts.push(account)
      }
      cursor = entry
    }
    if (entries.length < batchMax) return { accounts, next: undefined }
    scanned += entries.length
  }
  return { accounts, next: cursor }
}

/** Long words match few accounts, but a domain matches many. */
function selectivity(word: string): number {
  return word.includes('.') && !word.includes('@') ? 0 : word.length
}

/**
 * An account that matches by several terms is only shown for the first of them, in the order of `termsOf`. That list
 * only ever grows at its end, so the first match is also in older index entries.
 */
function isFirstMatch(
  terms: readonly string[],
  term: string,
  { prefix, words }: { readonly prefix: string; readonly words: readonly string[] },
): boolean {
  if (!beginWith(terms, words)) return false
  return terms.find((other) => other.startsWith(prefix)) === term
}

/** Whether a search for these words in the index finds an account. */
export function isFoundByTerms(account: Account, words: readonly string[]): boolean {
  return beginWith(termsOf(account), words)
}

function beginWith(terms: readonly string[], words: readonly string[]): boolean {
  return words.every((word) => terms.some((term) => term.startsWith(word)))
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
