import type { AccountActions, AccountActionsOf } from '#accounts/account-actions.ts'
import { readUsageReport, usageReportData } from '#accounts/usage/reports.ts'
import { type OwnUsagePath, ownUsagePath, type PerOperation } from '#gateway/routes/own-operations.ts'
import { invalidField } from '#platform/errors/gatehouse-error.ts'
import { count, flag, objectSchema, orNull, text, time, type Value } from '#platform/json-schema.ts'
import { actorOf } from '../admission.ts'
import { type AdminOperations, type Operation, type OperationDoc, operation } from '../operation.ts'
import { type AdminOperationOptions, idOf } from './admin-request.ts'

const day = { type: 'string', format: 'date' } as const
const counts = { requests: count, units: count }

const quotaUse = {
  limit: { type: 'integer', minimum: 1 },
  per: { type: 'string', enum: ['day', 'month'], description: 'UTC day or month.' },
  used: {
    ...count,
    description:
      'Requests in this day or month, on routes with `quotaCounts: units` their units; may be up to 1 % of the limit too low.',
  },
  remaining: count,
  resetsAt: time,
} as const

const planUse = {
  ...orNull(
    objectSchema({
      name: text,
      known: {
        ...flag,
        description: 'false: the config no longer has such a plan, and the account is not limited.',
      },
      quota: { ...orNull(objectSchema(quotaUse)), description: 'null = the plan has none.' },
      rateLimit: {
        ...orNull(
          objectSchema({ limit: quotaUse.limit, perSeconds: { type: 'number', exclusiveMinimum: 0 } }),
        ),
        description: 'null = the plan has none.',
      },
    }),
  ),
  description: 'The plan of the account, and what is left of it now; null = none.',
}

export const usageReport = objectSchema({
  plan: planUse,
  keyQuotas: {
    type: 'array',
    items: objectSchema({ key: { ...text, description: 'The name of the key.' }, ...quotaUse }),
    description: 'The quotas of secret keys, and what is left of them now; keys without one are left out.',
  },
  from: day,
  to: day,
  days: {
    type: 'array',
    items: objectSchema({
      day,
      ...counts,
      used: { type: 'array', items: objectSchema({ key: text, route: text, ...counts }) },
    }),
  },
})

const usageQuery = objectSchema(
  {},
  {
    from: {
      ...text,
      description: 'First day (UTC), such as 2026-11-01; default: the first of the month of `to`.',
    },
    to: { ...text, description: 'Last day, at most 400 days later; default: today.' },
  },
)

/** What both usage operations share; they differ in the account. */
const usageOperation = {
  description:
    'The plan and the quotas of keys with what is left of them, and requests and units by day, secret key and route. Days without requests are left out; days more than 400 days ago are not kept.',
  query: usageQuery,
  responses: { 200: { description: 'Plan, quotas of keys, and days.', schema: usageReport } },
} satisfies Partial<OperationDoc>

/** @throws GatehouseError `request-invalid` */
async function showUsage(actions: AccountActions, idOrEmail: string, { from, to }: Value<typeof usageQuery>) {
  const days = actions.usage.parseDays({ from, to })
  if ('field' in days) throw invalidField(days.field, days.message)
  return usageReportData(await readUsageReport(actions, await actions.accounts.get(idOrEmail), days))
}

/** The operations of an account on itself, for any role and by either scheme. */
export function ownAccountOperations(actionsOf: AccountActionsOf): PerOperation<Operation, OwnUsagePath> {
  return {
    [ownUsagePath]: {
      GET: operation({
        ...usageOperation,
        id: 'getUsage',
        summary: "Shows the usage of the caller's account.",
        problems: ['request-invalid'],
        handler: async (request) => {
          const actor = actorOf(request)
          return showUsage(actionsOf(actor), actor.id, request.query)
        },
      }),
    },
  }
}

export function usageOperations({ actionsOf }: AdminOperationOptions) {
  return {
    '/api/v1/admin/accounts/:id/usage': {
      GET: operation({
        ...usageOperation,
        id: 'getAccountUsage',
        summary: 'Shows the usage of an account.',
        problems: ['request-invalid', 'account-not-found'],
        handler: (request) => showUsage(actionsOf(request), idOf(request), request.query),
      }),
    },
  } satisfies Partial<AdminOperations>
}
