import { type FieldError, GatehouseError, invalidField } from '#platform/errors/gatehouse-error.ts'
import { parseJson } from '#platform/json.ts'
import { dayRule, parseDay } from '#platform/time.ts'
import { wordsOf } from '#store/account-search.ts'
import { type AccountFilter, type AccountOrder, accountOrders } from '#store/accounts.ts'
import { noPlan } from './account-input.ts'

/** What a list of accounts is narrowed by, as the admin API, the commands and the portal name it. */
export const accountQueryFields = {
  q: {
    value: 'TEXT',
    help: 'Words, each of them anywhere in the e-mail or the names; or an ID.',
  },
  role: { value: 'R', help: 'Only accounts with this role.' },
  plan: { value: 'NAME|none', help: 'Only accounts with this plan; none = those without one.' },
  disabled: { value: 'true|false', help: 'Only disabled accounts, or only others.' },
  activeSince: {
    value: 'DAY',
    help: 'Only accounts that sent a request, used a key or were in the portal on this day (UTC) or later.',
  },
  inactiveSince: {
    value: 'DAY',
    help: 'Only accounts created before this day (UTC) and not active since.',
  },
  sort: {
    value: accountOrders.join('|'),
    help: 'The order; default: newest first; in a search, accounts with words that begin as searched come first.',
  },
} as const satisfies Readonly<Record<string, { readonly value: string; readonly help: string }>>

export type AccountQueryField = keyof typeof accountQueryFields

export interface AccountQuery {
  /** '' = no search. */
  readonly text: string
  /** Its words are those of the text. */
  readonly filter: AccountFilter
  /** undefined = the best matches first, then the newest. */
  readonly order: AccountOrder | undefined
}

/** Length of the text, in characters. */
export const queryLengthMax = 200

/**
 * @param read the value of a field; undefined and '' = absent
 * @throws GatehouseError `request-invalid` with every field that is wrong
 */
export function parseAccountQuery(read: (field: AccountQueryField) => string | undefined): AccountQuery {
  const errors: FieldError[] = []
  function given<Value>(
    field: AccountQueryField,
    parse: (value: string) => Value | undefined,
    message: string,
  ): Value | undefined {
    const value = read(field)
    if (value === undefined || value === '') return undefined
    const parsed = parse(value)
    if (parsed === undefined) errors.push({ field, message })
    return parsed
  }
  const day = (field: AccountQueryField) => given(field, parseDay, dayRule)
  const text = given('q', readText, `must have at most ${queryLengthMax} characters`) ?? ''
  const query = {
    text,
    filter: {
      words: wordsOf(text),
      role: given('role', (value) => value, ''),
      plan: given('plan', (value) => ({ name: value === noPlan ? null : value }), '')?.name,
      isDisabled: given('disabled', (value) => flags.get(value), 'must be true or false'),
      activeSince: day('activeSince'),
      inactiveSince: day('inactiveSince'),
    },
    order: given(
      'sort',
      (value) => accountOrders.find((order) => order === value),
      `must be one of ${accountOrders.join(', ')}`,
    ),
  }
  if (errors.length > 0) throw new GatehouseError('request-invalid', { errors })
  return query
}

const flags: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
])

function readText(value: string): string | undefined {
  return value.length > queryLengthMax ? undefined : value.trim()
}

/** Where a page of a list ended: it names the last entry. Opaque to clients. */
export type CursorParts = readonly [string, string]

/** A position in a list ordered by time, then by ID. */
export interface ListPosition {
  readonly createdAt: number
  readonly id: string
}

/** Which page of a list is asked for. */
export interface PageRequest {
  /** From the page before; undefined = the first. */
  readonly cursor: string | undefined
  /** From 1. */
  readonly limit: number
}

/** A page of a list. */
export interface Page<Entry> {
  readonly items: readonly Entry[]
  /** The cursor of the next page; undefined = this is the last. */
  readonly nextCursor: string | undefined
}

export function createCursor(parts: CursorParts): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url')
}

/** @throws GatehouseError `request-invalid` (field `cursor`) for an invalid cursor */
export function parseCursor(cursor: string): CursorParts {
  const parts = parseJson(Buffer.from(cursor, 'base64url').toString())
  const [first, second]: unknown[] = Array.isArray(parts) && parts.length === 2 ? parts : []
  if (typeof first !== 'string' || typeof second !== 'string') throw invalidCursor()
  return [first, second]
}

function createListCursor({ createdAt, id }: ListPosition): string {
  return createCursor([String(createdAt), id])
}

/** @throws GatehouseError `request-invalid` (field `cursor`) for a cursor of another list */
export function parseListCursor(cursor: string): ListPosition {
  return listPosition(parseCursor(cursor))
}

/** @throws GatehouseError `request-invalid` (field `cursor`) for the parts of a cursor of another list */
export function listPosition([createdAt, id]: CursorParts): ListPosition {
  if (!/^\d{1,16}$/.test(createdAt)) throw invalidCursor()
  return { createdAt: Number(createdAt), id }
}

/** The first page of entries ordered by time. @param entries at least one more than `limit` if there are more */
export function pageOf<Entry>(
  entries: readonly Entry[],
  limit: number,
  positionOf: (entry: Entry) => ListPosition,
): Page<Entry> {
  const items = entries.slice(0, limit)
  const last = items.at(-1)
  return {
    items,
    nextCursor: entries.length > limit && last ? createListCursor(positionOf(last)) : undefined,
  }
}

function invalidCursor(): GatehouseError {
  return invalidField('cursor', 'must be the nextCursor of a page of the same query')
}
