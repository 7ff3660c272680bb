import type { PlanUse, QuotaUse } from '#accounts/usage/plan-reports.ts'
import {
  readUsageReport,
  type UsageReports,
  usageData,
  usageFile,
  usageReportData,
} from '#accounts/usage/reports.ts'
import type { Config } from '#config/config.ts'
import { quotaUnitOf } from '#identity/limits/plans.ts'
import { isPrincipalId } from '#store/subjects.ts'
import type { DayRange } from '#store/usage.ts'
import { type Command, type Invocation, UsageError } from './command.ts'
import { withOperator } from './operator.ts'
import { createProgress, writeChunks } from './output.ts'
import { csvOption, printData, table, wantsCsv } from './print.ts'

const dayOptions = {
  from: {
    value: 'DAY',
    help: 'First day (UTC), such as 2026-11-01; default: the first of this month; for export the oldest.',
  },
  to: { value: 'DAY', help: 'Last day; default: today.' },
} as const

const exportAll: Command = {
  name: 'usage export',
  summary: 'Prints what all accounts have used, as CSV or with --json as JSON lines.',
  examples: [
    'gatehouse usage export --from 2026-11-01 > usage.csv',
    'gatehouse usage export --json | gzip > usage.jsonl.gz',
  ],
  options: dayOptions,
  run: async (invocation) => {
    await withOperator(invocation.config, async ({ usage }) => {
      const isLimited = [invocation.text('from'), invocation.text('to')].some((text) => text !== undefined)
      const days = isLimited ? daysOf(invocation, usage) : usage.keptDays()
      const { out, err } = invocation.terminal
      // On a terminal the lines themselves show it.
      const progress = out.isTTY ? undefined : createProgress({ verb: 'exported', noun: 'accounts', err })
      await writeChunks(out, usage.export(invocation.asJson ? 'jsonl' : 'csv', days, progress?.report))
      progress?.end()
    })
  },
}

const show: Command = {
  name: 'usage',
  operands: ['ID|EMAIL'],
  summary: 'Shows what an account or ISSUER:SUBJECT has used, its plan, and key quotas.',
  examples: [
    'gatehouse usage ada@example.com',
    'gatehouse usage corp:248289761001',
    'gatehouse usage ada@example.com --csv > usage.csv',
  ],
  options: { ...dayOptions, ...csvOption },
  run: async (invocation, who) => {
    const asCsv = wantsCsv(invocation)
    const { report, noun } = await withOperator(invocation.config, async (operator) => {
      const { usage, accounts, config } = operator
      const days = daysOf(invocation, usage)
      const account = isPrincipalId(who) ? principalOf(who, config) : await accounts.get(who)
      return {
        report: await readUsageReport(operator, account, days),
        noun: quotaUnitOf(config.routes),
      }
    })
    const { plan, keyQuotas, counts } = report
    if (asCsv) {
      await writeChunks(invocation.terminal.out, usageFile(counts).chunks)
      return
    }
    printData(invocation, usageReportData(report), () => [
      ...planLines(plan, noun),
      ...keyQuotas.map((use) => `Key ${use.key}: ${quotaUseText(use, noun)}`),
      ...table(counts.map(usageData), {
        columns: {
          DAY: ({ day }) => day,
          KEY: ({ key }) => key,
          ROUTE: ({ route }) => route,
          REQUESTS: ({ requests }) => requests,
          UNITS: ({ units }) => units,
        },
        whenEmpty: 'No requests on these days.',
      }),
    ])
  },
}

/** A user of a foreign issuer, by the ID that backends get, such as `corp:248289761001`. */
function principalOf(id: string, { issuers }: Config) {
  return { id, secretKeys: [], plan: issuers.find(({ name }) => id.startsWith(`${name}:`))?.plan }
}

function planLines(use: PlanUse | undefined, noun: string): readonly string[] {
  if (!use) return []
  const { name, isKnown, quota, rateLimit } = use
  if (!isKnown) return [`Plan ${name}: not in the config, so not limited`]
  const quotaText = quota && quotaUseText(quota, noun)
  const rateText = rateLimit && `${rateLimit.limit} requests per ${rateLimit.perMs / 1_000} s`
  return [`Plan ${name}: ${[quotaText, rateText].filter(Boolean).join('; ')}`]
}

/** @param noun what is counted: of a request, one or what it has cost */
function quotaUseText({ limit, per, used, remaining, resetsAt }: QuotaUse, noun: string): string {
  return `${used} of ${limit} ${noun} this ${per}, ${remaining} left until ${new Date(resetsAt).toISOString()}`
}

/** @throws UsageError */
function daysOf(invocation: Invocation, usage: UsageReports): DayRange {
  const days = usage.parseDays({ from: invocation.text('from'), to: invocation.text('to') })
  if ('field' in days) throw new UsageError(`--${days.field} ${days.message}`)
  return days
}

/** In this order: the first whose words match is run. */
export const usageCommands: readonly Command[] = [exportAll, show]
