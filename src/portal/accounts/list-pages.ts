import { accountsFile } from '#accounts/account-data.ts'
import { type AccountQuery, type AccountQueryField, parseAccountQuery } from '#accounts/list-query.ts'
import { dayOf, formatDay } from '#platform/time.ts'
import { formRefusal } from '../forms/refusal.ts'
import type { PortalOptions, SignedInContext } from '../page-context.ts'
import { type CreatePages, queryOf } from '../portal-page.ts'
import type { PageResult } from '../portal-response.ts'
import {
  accountListPage,
  accountsPerPage,
  activityChoices,
  type ListFields,
  listFieldNames,
} from '../views/accounts/list-page.ts'

/** The list of accounts and its export, for Admins. */
export const accountListPages: CreatePages = (options) => [
  { path: '/accounts', get: (context) => listAccounts(context, options) },
  {
    path: '/accounts/export',
    get: async (context) => {
      const query = accountQueryOf(fieldsOf(context), options.clock())
      return { kind: 'file', file: accountsFile(context.actions.search.all(query)) }
    },
  },
]

async function listAccounts(context: SignedInContext, { clock }: PortalOptions): Promise<PageResult> {
  const { search } = context.actions
  const fields = fieldsOf(context)
  const cursor = queryOf(context)('cursor') || undefined
  const common = { fields, isFirstPage: cursor === undefined, count: await search.count() }
  try {
    const query = accountQueryOf(fields, clock())
    const found = await search.page({ query, cursor, limit: accountsPerPage })
    return context.show((frame) => accountListPage(frame, { ...common, ...found }))
  } catch (error) {
    const refusal = formRefusal(context, error)
    const message = refusal.state.message ?? Object.values(refusal.state.errors).join(' ')
    const nothing = { items: [], nextCursor: undefined, error: message }
    return context.show((frame) => accountListPage(frame, { ...common, ...nothing }), refusal)
  }
}

function fieldsOf(context: SignedInContext): ListFields {
  const query = queryOf(context)
  // The cast is sound: these are the names of the fields.
  return Object.fromEntries(listFieldNames.map((name) => [name, query(name).trim()])) as ListFields
}

/** @throws GatehouseError `request-invalid` */
function accountQueryOf(fields: ListFields, now: number): AccountQuery {
  const choice = activityChoices.find(({ value }) => value === fields.active)
  const day = choice && formatDay(dayOf(now) - choice.days)
  const texts: Readonly<Record<AccountQueryField, string | undefined>> = {
    ...fields,
    activeSince: choice?.isActive === true ? day : undefined,
    inactiveSince: choice?.isActive === false ? day : undefined,
  }
  return parseAccountQuery((field) => texts[field])
}
