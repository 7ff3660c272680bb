import { type FieldError, GatehouseError } from '#platform/errors/gatehouse-error.ts'
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
  /** `words` are the words of `text`. */
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
