import { readUsageReport, usageFile } from '#accounts/usage/reports.ts'
import { invalidField } from '#platform/errors/gatehouse-error.ts'
import type { Account } from '#store/accounts.ts'
import type { DayRange } from '#store/usage.ts'
import type { SignedInContext } from './page-context.ts'
import { accountOf, type CreatePages, queryOf } from './portal-page.ts'
import type { PageResult } from './portal-response.ts'
import { usagePage } from './views/usage-page.ts'

/** What an account has used: one's own, and for Admins any account. */
export const usagePages: CreatePages = () => [
  { path: '/usage', get: (context) => showUsage(context, context.viewer.account, '/usage') },
  { path: '/usage/export', get: (context) => exportUsage(context, context.viewer.account) },
  {
    path: '/accounts/:id/usage',
    get: async (context) => {
      const account = await accountOf(context)
      return showUsage(context, account, `/accounts/${account.id}/usage`)
    },
  },
  {
    path: '/accounts/:id/usage/export',
    get: async (context) => exportUsage(context, await accountOf(context)),
  },
]

async function showUsage(context: SignedInContext, account: Account, path: string): Promise<PageResult> {
  const report = await readUsageReport(context.actions, account, daysOf(context))
  const isOwn = path === '/usage'
  return context.show((frame) => usagePage(frame, { ...report, account, isOwn, path }))
}

async function exportUsage(context: SignedInContext, account: Account): Promise<PageResult> {
  const counts = await context.actions.usage.read(account.id, daysOf(context))
  return { kind: 'file', file: usageFile(counts) }
}

/** The days that the query asks for; by default those of this month. @throws GatehouseError `request-invalid` */
function daysOf(context: SignedInContext): DayRange {
  const query = queryOf(context)
  const texts = { from: query('from') || undefined, to: query('to') || undefined }
  const days = context.actions.usage.parseDays(texts)
  if ('field' in days) throw invalidField(days.field, days.message)
  return days
}
