import type { Account } from '../store/store.ts'

export interface AccountPage {
  readonly items: readonly Account[]
  /** For the page after this one; undefined = this is the last. */
  readonly nextCursor: string | undefined
}

export interface AccountSearch {
  /**
   * Accounts whose ID, e-mail, or a word of whose names begins with each word of `query`, without case; all of
   * them without a query. Each comes once; in the order of an index, so that a page of 100,000 is as quick as
   * one of 100.
   * @param page `limit` 1 to 100; `cursor` as a page of the same query gave it
   * @throws GatehouseError `request-invalid` (fields `q`, `limit`, `cursor`)
   */
  page(page: {
    readonly query: string
    readonly cursor: string | undefined
    readonly limit: number
  }): Promise<AccountPage>
}

export const pageLimitMax = 100
