import { setImmediate } from 'node:timers/promises'
import { invalidField } from '#platform/errors/gatehouse-error.ts'
import { accountIdPattern } from '#platform/secrets/key-format.ts'
import { isFoundByTerms } from '#store/account-search.ts'
import {
  type AccountOrder,
  type AccountPosition,
  type AccountStore,
  emailKey,
  type ListedAccount,
  type TermEntry,
} from '#store/accounts.ts'
import type { AccountQuery } from './account-query.ts'
import {
  type CursorParts,
  createCursor,
  type Page,
  type PageRequest,
  parseCursor,
  parseListPosition,
} from './pages.ts'

export interface AccountSearch {
  /**
   * Accounts that match a query, each once. With a text and no order, those come first in which each word begins the
   * e-mail, a part of it, its domain or a name, in the order of an index: finding them takes as long among a million
   * accounts as among a hundred. Then come those that have the words anywhere, newest first. A page scans only part of
   * the accounts, so it may be short or empty although there is a next one.
   * @param page `limit` up to 100; `cursor` from a page of the same query
   * @throws GatehouseError `request-invalid` (fields `limit`, `cursor`)
   */
  page(page: PageRequest & { readonly query: AccountQuery }): Promise<Page<ListedAccount>>
  /** All accounts that match, page after page, however many they are. */
  all(query: AccountQuery): AsyncGenerator<readonly ListedAccount[]>
  /** How many accounts there are. */
  count(): Promise<number>
}

export const pageLimitMax = 100
/**
 * How many times a page may ask the store, each time for some milliseconds, before it is returned as it is. Fewer times
 * once the index has found something, as that is what most searches are after.
 */
const stepsMax = { any: 200, whenFound: 10 } as const

const idPattern = new RegExp(`^${accountIdPattern}$`)

/** The result of one store query, and where to continue; undefined = the end. */
interface Step {
  readonly accounts: readonly ListedAccount[]
  readonly next: string | undefined
}

export function createAccountSearch(
  store: Pick<AccountStore, 'findAccount' | 'filterAccounts' | 'searchAccounts' | 'countAccounts'>,
): AccountSearch {
  /** The next step of a query. A cursor is a place in the index or, if it begins with `listMark`, in the list. */
  function step(query: AccountQuery, cursor: string | undefined, limit: number): Promise<Step> {
    if (!isRanked(query))
      return stepInList(query, cursor === undefined ? undefined : parseCursor(cursor), limit)
    const [first, id] = cursor === undefined ? [undefined, ''] : parseCursor(cursor)
    if (first === undefined || !first.startsWith(listMark))
      return stepInIndex(query, first === undefined ? undefined : { term: first, id }, limit)
    const key = first.slice(listMark.length)
    return stepInList(query, key === '' ? undefined : [key, id], limit)
  }

  async function stepInIndex(
    { filter }: AccountQuery,
    after: TermEntry | undefined,
    limit: number,
  ): Promise<Step> {
    const { words, ...others } = filter
    const page = { words, filter: { ...others, words: [] }, after, limit }
    const { accounts, next } = await store.searchAccounts(page)
    return { accounts, next: createCursor(next ? [next.term, next.id] : [listMark, '']) }
  }

  async function stepInList(
    query: AccountQuery,
    after: CursorParts | undefined,
    limit: number,
  ): Promise<Step> {
    const { filter, order = 'newest' } = query
    const position = after && positionIn(after, order)
    const { accounts, next } = await store.filterAccounts({ filter, order, after: position, limit })
    if (!isRanked(query)) return { accounts, next: next && createCursor([String(next.key), next.id]) }
    return {
      // Those that the index finds came before.
      accounts: accounts.filter((account) => !isFoundByTerms(account, filter.words)),
      next: next && createCursor([`${listMark}${next.key}`, next.id]),
    }
  }

  async function findById({ text, filter }: AccountQuery): Promise<readonly ListedAccount[] | undefined> {
    const account = idPattern.test(text) ? await store.findAccount(text) : undefined
    if (!account) return undefined
    const words = [emailKey(account.email)]
    const { accounts } = await store.searchAccounts({
      words,
      filter: { ...filter, words: [] },
      after: undefined,
      limit: 1,
    })
    return accounts.filter(({ id }) => id === account.id)
  }

  /** Takes steps until `limit` accounts are found, or no steps are left. */
  async function collect(
    query: AccountQuery,
    cursor: string | undefined,
    limit: number,
    stepsLeft: { count: number },
  ): Promise<Step> {
    const accounts: ListedAccount[] = []
    let next = cursor
    do {
      stepsLeft.count--
      const found = await step(query, next, limit - accounts.length)
      accounts.push(...found.accounts)
      next = found.next
      if (accounts.length > 0 && isRanked(query))
        stepsLeft.count = Math.min(stepsLeft.count, stepsMax.whenFound)
      // Yields to other requests.
      if (next !== undefined) await setImmediate()
    } while (next !== undefined && accounts.length < limit && stepsLeft.count > 0)
    return { accounts, next }
  }

  async function page(
    query: AccountQuery,
    cursor: string | undefined,
    limit: number,
  ): Promise<Page<ListedAccount>> {
    const byId = await findById(query)
    if (byId) return { items: byId, nextCursor: undefined }
    const stepsLeft = { count: stepsMax.any }
    const { accounts, next } = await collect(query, cursor, limit, stepsLeft)
    // Looks for one more account, as a next page that is empty should not be announced.
    if (next === undefined || accounts.length < limit) return { items: accounts, nextCursor: next }
    const peeked = await collect(query, next, 1, stepsLeft)
    const isEnd = peeked.next === undefined && peeked.accounts.length === 0
    return { items: accounts, nextCursor: isEnd ? undefined : next }
  }

  return {
    page: ({ query, cursor, limit }) => {
      if (!Number.isInteger(limit) || limit < 1 || limit > pageLimitMax)
        throw invalidField('limit', `must be a whole number from 1 to ${pageLimitMax}`)
      return page(query, cursor, limit)
    },
    all: async function* (query) {
      for (let cursor: string | undefined; ; ) {
        const { items, nextCursor } = await page(query, cursor, pageLimitMax)
        if (items.length > 0) yield items
        if (nextCursor === undefined) return
        cursor = nextCursor
      }
    },
    count: () => store.countAccounts(),
  }
}

/** Whether the accounts that the index finds come first. */
function isRanked({ filter, order }: Pick<AccountQuery, 'filter' | 'order'>): boolean {
  return filter.words.length > 0 && order === undefined
}

/** Begins the cursors of the list, which follows the index; no term of the index contains a control character. */
const listMark = '\n'

/** @throws GatehouseError `request-invalid` (field `cursor`) for a cursor of another list */
function positionIn(parts: CursorParts, order: AccountOrder): AccountPosition {
  const [key, id] = parts
  return { key: order === 'email' ? key : parseListPosition(parts).createdAt, id }
}
