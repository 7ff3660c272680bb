import type { FastifyRequest } from 'fastify'
import type { DayTexts } from '../accounts/usage-reports.ts'
import { type UsageReports, usageReportData } from '../accounts/usage-reports.ts'
import { invalidField } from '../errors/gatehouse-error.ts'
import { objectSchema } from './admin/schemas.ts'
import type { JsonSchema, OperationDoc } from './operation.ts'

/** What operations on usage have in common. */

const text = { type: 'string' } as const
const count = { type: 'integer', minimum: 0 } as const
const day = { type: 'string', format: 'date' } as const
const counts = { requests: count, units: count }

export const usageReport: JsonSchema = objectSchema({
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

export const usageQuery: JsonSchema = objectSchema(
  {
    from: {
      type: 'string',
      description: 'First day (UTC), such as 2026-11-01; default: the first of the month of `to`.',
    },
    to: { type: 'string', description: 'Last day, at most 400 days later; default: today.' },
  },
  ['from', 'to'],
)

/** The operation but for whose usage it shows. */
export const usageOperation = {
  description:
    'Requests and units by day, secret key and route; days without requests are left out, and those of more than 400 days ago are not kept.',
  query: usageQuery,
  responses: { 200: { description: 'The days.', schema: usageReport } },
} satisfies Partial<OperationDoc>

/** @throws GatehouseError `request-invalid` */
export async function readUsageReport(
  usage: UsageReports,
  accountId: string,
  { query }: FastifyRequest,
): Promise<unknown> {
  // The cast is sound: the schema has validated it.
  const { from, to } = query as Partial<DayTexts>
  const days = usage.parseDays({ from, to })
  if ('field' in days) throw invalidField(days.field, days.message)
  return usageReportData(days, await usage.read(accountId, days))
}
