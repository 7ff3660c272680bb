import { GatehouseError } from '../errors.ts'
import { wordsOf } from '../store/search.ts'
import type { Account, Store, TermEntry } from '../store/store.ts'

export interface AccountPage {
  readonly items: readonly Account[]
  /** For the page after this one; undefined = this is the last. */
  readonly nextCursor: string | undefined
}

export interface AccountSearch {
  /**
   * Accounts for which each word of `query` begins their e-mail, a part of it, its domain or a word of their
   * names, without case, or the one whose ID it is; without a query all. Each comes once, in the order of an index: a page of 100,000 is as
   * quick as one of 100. A page may be short, or empty, and yet have a next one.
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

/** In characters. */
export const queryLengthMax = 200
const idPattern = /^[0-9A-Za-z]{16}$/

export function createAccountSearch(store: Store): AccountSearch {
  async function listAll(cursor: string | undefined, limit: number): Promise<AccountPage> {
    const after = cursor === undefined ? undefined : toPlace(decode(cursor, 2))
    const listed = await store.listAccounts({ after, limit: limit + 1 })
    const items = listed.slice(0, limit)
    const last = items.at(-1)
    return {
      items,
      nextCursor: listed.length > limit && last ? encode([String(last.createdAt), last.id]) : undefined,
    }
  }

  async function find(query: string, cursor: string | undefined, limit: number): Promise<AccountPage> {
    const account = idPattern.test(query) ? await store.findAccount(query) : undefined
    if (account) return { items: [account], nextCursor: undefined }
    const after = cursor === undefined ? undefined : toEntry(decode(cursor, 2))
    const { accounts, next } = await store.searchAccounts({ words: wordsOf(query), after, limit })
    return { items: accounts, nextCursor: next && encode([next.term, next.id]) }
  }

  return {
    page: async ({ query, cursor, limit }) => {
      if (!Number.isInteger(limit) || limit < 1 || limit > pageLimitMax) {
        throw wrong('limit', `must be a whole number from 1 to ${pageLimitMax}`)
      }
      if (query.length > queryLengthMax) throw wrong('q', `must have at most ${queryLengthMax} characters`)
      const trimmed = query.trim()
      return wordsOf(trimmed).length === 0 ? listAll(cursor, limit) : find(trimmed, cursor, limit)
    },
  }
}

function encode(parts: readonly string[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url')
}

/** @throws GatehouseError `request-invalid` for what was no cursor of such a page */
function decode(cursor: string, length: number): readonly string[] {
  const parts = parse(Buffer.from(cursor, 'base64url').toString())
  const isCursor =
    Array.isArray(parts) && parts.length === length && parts.every((part) => typeof part === 'string')
  if (!isCursor) throw wrongCursor()
  return parts
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** @throws GatehouseError `request-invalid` for the cursor of a search */
function toPlace([createdAt = '', id = '']: readonly string[]): { createdAt: number; id: string } {
  if (!/^\d{1,16}$/.test(createdAt)) throw wrongCursor()
  return { createdAt: Number(createdAt), id }
}

function toEntry([term = '', id = '']: readonly string[]): TermEntry {
  return { term, id }
}

function wrongCursor(): GatehouseError {
  return wrong('cursor', 'must be the nextCursor of a page of the same query')
}

function wrong(field: string, message: string): GatehouseError {
  return new GatehouseError('request-invalid', { errors: [{ field, message }] })
}
