import { invalidField } from '#platform/errors/gatehouse-error.ts'
import { accountIdPattern } from '#platform/secrets/key-format.ts'
import type { Account } from '#store/account.ts'
import type { AccountStore } from '#store/accounts.ts'
import { wordsOf } from '#store/search.ts'
import { createCursor, type Page, pageOf, parseCursor, parseListCursor } from './cursor.ts'

export interface AccountSearch {
  /**
   * Accounts whose e-mail, a part of it, its domain or a word of their names begins with each word of `query`, without
   * case; or the account with that ID; or all without a query. Each is returned once, in index order: a page
   * takes as long among 100,000 accounts as among 100. A page may be short or empty, and still have a next one.
   * @param page `limit` 1 to 100; `cursor` from a page of the same query
   * @throws GatehouseError `request-invalid` (fields `q`, `limit`, `cursor`)
   */
  page(page: {
    readonly query: string
    readonly cursor: string | undefined
    readonly limit: number
  }): Promise<Page<Account>>
}

export const pageLimitMax = 100

/** Length of a query, in characters. */
export const queryLengthMax = 200
const idPattern = new RegExp(`^${accountIdPattern}$`)

export function createAccountSearch(
  store: Pick<AccountStore, 'findAccount' | 'listAccounts' | 'searchAccounts'>,
): AccountSearch {
  async function listAll(cursor: string | undefined, limit: number): Promise<Page<Account>> {
    const after = cursor === undefined ? undefined : parseListCursor(cursor)
    return pageOf(await store.listAccounts({ after, limit: limit + 1 }), limit)
  }

  async function find(query: string, cursor: string | undefined, limit: number): Promise<Page<Account>> {
    const account = idPattern.test(query) ? await store.findAccount(query) : undefined
    if (account) return { items: [account], nextCursor: undefined }
    const [term, id] = cursor === undefined ? [] : parseCursor(cursor)
    const after = term === undefined || id === undefined ? undefined : { term, id }
    const { accounts, next } = await store.searchAccounts({ words: wordsOf(query), after, limit })
    return { items: accounts, nextCursor: next && createCursor([next.term, next.id]) }
  }

  return {
    page: async ({ query, cursor, limit }) => {
      if (!Number.isInteger(limit) || limit < 1 || limit > pageLimitMax) {
        throw invalidField('limit', `must be a whole number from 1 to ${pageLimitMax}`)
      }
      if (query.length > queryLengthMax)
        throw invalidField('q', `must have at most ${queryLengthMax} characters`)
      const trimmed = query.trim()
      return wordsOf(trimmed).length === 0 ? listAll(cursor, limit) : find(trimmed, cursor, limit)
    },
  }
}
