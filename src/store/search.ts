import { emailKey } from './email-key.ts'
import type { Account, Found, SearchPage, TermEntry } from './store.ts'

/** What an adapter has to offer: its index is in the order of the bytes of term and ID. */
export interface TermIndex {
  /** Entries whose term begins with a prefix, from the one after `after`. */
  find(prefix: string, after: TermEntry | undefined, limit: number): Promise<readonly TermEntry[]>
  load(ids: readonly string[]): Promise<readonly (Account | undefined)[]>
}

const wordsMax = 8
const termLengthMax = 64
/** How many entries are looked at for one page: what few of many match comes in short pages. */
const scannedMax = 500

/** What an account is found by: its e-mail, and each word of its names. */
export function termsOf({ email, firstName, lastName }: Pick<Account, 'email' | 'firstName' | 'lastName'>) {
  return [...new Set([emailKey(email), ...wordsOf(`${firstName} ${lastName}`)])]
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

/** Accounts of which each word begins some term: by the index of the longest word, the rest is looked at. */
export async function search(index: TermIndex, { words, after, limit }: SearchPage): Promise<Found> {
  const prefix = words.reduce((longest, word) => (word.length > longest.length ? word : longest), '')
  const accounts: Account[] = []
  let place = after
  for (let scanned = 0; scanned < scannedMax; ) {
    const batchMax = Math.min(scannedMax, limit + 1)
    const entries = await index.find(prefix, place, batchMax)
    const found = await index.load(entries.map(({ id }) => id))
    for (const [position, entry] of entries.entries()) {
      const account = found[position]
      if (account && isFirstTerm(account, prefix, entry.term) && hasAll(account, words)) {
        if (accounts.length === limit) return { accounts, next: place }
        accounts.push(account)
      }
      place = entry
    }
    if (entries.length < batchMax) return { accounts, next: undefined }
    scanned += entries.length
  }
  return { accounts, next: place }
}

/** An account that is found by several of its terms comes with the first of them alone. */
function isFirstTerm(account: Account, prefix: string, term: string): boolean {
  const matching = termsOf(account).filter((other) => other.startsWith(prefix))
  return matching.toSorted(byBytes)[0] === term
}

function hasAll(account: Account, words: readonly string[]): boolean {
  const terms = termsOf(account)
  return words.every((word) => terms.some((term) => term.startsWith(word)))
}

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}
