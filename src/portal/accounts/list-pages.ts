import { accountsFile } from '#accounts/account-data.ts'
import { type AccountQuery, type AccountQueryField, parseAccountQuery } from '#accounts/account-query.ts'
import { GatehouseError, invalidField } from '#platform/errors/gatehouse-error.ts'
import { dayOf, type EpochMs, formatDay } from '#platform/time.ts'
import type { Account, AccountChanges } from '#store/accounts.ts'
import type { Form } from '../forms/body.ts'
import { formRefusal } from '../forms/refusal.ts'
import type { PortalOptions, SignedInContext } from '../page-context.ts'
import { type CreatePages, queryOf } from '../portal-page.ts'
import { type PageResult, redirectTo, safeRedirectPath } from '../portal-response.ts'
import {
  accountListPage,
  accountsPerPage,
  activityChoices,
  type ListFields,
  listFieldNames,
  type SeveralAction,
  severalActions,
} from '../views/accounts/list-page.ts'
import { severalAccountsPage, severalOutcomePage } from '../views/accounts/several-pages.ts'
import type { FormState } from '../views/frame.ts'
import { assertKnownCase, planIn } from './new-account-pages.ts'

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
function accountQueryOf(fields: ListFields, now: EpochMs): AccountQuery {
  const choice = activityChoices.find(({ value }) => value === fields.active)
  const day = choice && formatDay(dayOf(now) - choice.days)
  const texts: Readonly<Record<AccountQueryField, string | undefined>> = {
    ...fields,
    activeSince: choice?.isActive === true ? day : undefined,
    inactiveSince: choice?.isActive === false ? day : undefined,
  }
  return parseAccountQuery((field) => texts[field])
}

/** Changes to several accounts, which were ticked in the list, for Admins. */
export const severalAccountsPages: CreatePages = (options) => [
  { path: '/accounts/several', post: (context) => confirmSeveral(context) },
  {
    path: '/accounts/several/apply',
    post: (context) => changeSeveral(context, options),
    refused: (context, error) => {
      const { form } = context
      const { state, ...refusal } = formRefusal(context, error, { role: form('role'), plan: form('plan') })
      return confirmSeveral(context, state, refusal)
    },
  },
]

/** Shows what is about to be changed. */
async function confirmSeveral(
  context: SignedInContext,
  state?: FormState,
  refusal?: Parameters<SignedInContext['show']>[1],
): Promise<PageResult> {
  const { form } = context
  const list = listOf(form)
  const action = actionOf(form)
  const accounts = await tickedAccounts(context)
  if (accounts.length === 0 || action === undefined) return redirectTo(`/accounts${list}`, 'none-ticked')
  return context.show((frame) => severalAccountsPage(frame, { action, accounts, list, state }), refusal)
}

/** Changes one account after the other, each with an audit entry of its own. One that is refused stops no other. */
async function changeSeveral(context: SignedInContext, { roles }: PortalOptions): Promise<PageResult> {
  const { form, actions, viewer } = context
  const list = listOf(form)
  const changes = changesIn(context, roles)
  const accounts = await tickedAccounts(context)
  const refused: { readonly account: Account; readonly why: string }[] = []
  for (const account of accounts) {
    try {
      if (account.id === viewer.account.id) throw new GatehouseError('own-account')
      if (!isAlready(account, changes)) await actions.accounts.update(account.id, changes)
    } catch (error) {
      const { state } = formRefusal(context, error)
      // A wrong field is wrong for all accounts.
      if (Object.keys(state.errors).length > 0) throw error
      refused.push({ account, why: state.message ?? '' })
    }
  }
  if (refused.length === 0) return redirectTo(`/accounts${list}`, 'accounts-changed')
  const changed = accounts.length - refused.length
  return context.show((frame) => severalOutcomePage(frame, { changed, refused, list }))
}

/** @throws GatehouseError `request-invalid` (fields `role`, `plan`) */
function changesIn({ form, texts: { accounts } }: SignedInContext, roles: readonly string[]): AccountChanges {
  switch (actionOf(form)) {
    case 'disable':
      return { isDisabled: true }
    case 'enable':
      return { isDisabled: false }
    case 'role': {
      const role = form('role').trim()
      assertKnownCase(role, roles, accounts)
      return { role }
    }
    case 'plan':
      if (form('plan') === '') throw invalidField('plan', accounts.choosePlan)
      return { plan: planIn({ plan: form('plan') }) }
    default:
      throw new GatehouseError('request-invalid')
  }
}

function isAlready(account: Account, changes: AccountChanges): boolean {
  // The cast is sound: these are the names of the changes.
  return (Object.keys(changes) as (keyof AccountChanges)[]).every((name) => account[name] === changes[name])
}

function actionOf(form: Form): SeveralAction | undefined {
  return severalActions.find((action) => action === form('action'))
}

/** The accounts that still exist. */
async function tickedAccounts({ form, actions }: SignedInContext): Promise<readonly Account[]> {
  const ids = Array.from({ length: accountsPerPage }, (_, index) => form(`id${index}`)).filter(
    (id) => id !== '' && !id.includes('@'),
  )
  const found = await Promise.all([...new Set(ids)].map((id) => findIfThere(actions.accounts.get(id))))
  return found.filter((account) => account !== undefined)
}

async function findIfThere(finding: Promise<Account>): Promise<Account | undefined> {
  try {
    return await finding
  } catch (error) {
    if (error instanceof GatehouseError && error.code === 'account-not-found') return undefined
    throw error
  }
}

/** The query string of the list that the form came from. */
function listOf(form: Form): string {
  const path = safeRedirectPath(`/accounts${form('list')}`)
  return path.startsWith('/accounts?') ? path.slice('/accounts'.length) : ''
}
