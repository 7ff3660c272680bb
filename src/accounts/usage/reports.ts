import { type Clock, dayOf, dayRule, firstOfMonth, formatDay, parseDay } from '#platform/time.ts'
import { type Account, type AccountStore, readAllAccounts } from '#store/accounts.ts'
import { type DayRange, totalOf, type UsageCount, type UsageStore, usageDaysKept } from '#store/usage.ts'
import { csvLine, exportLine, type FileDownload } from '../csv.ts'
import {
  type KeyQuotaUse,
  keyQuotaUseData,
  type PlanReports,
  type PlanUse,
  planUseData,
} from './plan-reports.ts'

/** What accounts have used, as far as it is kept. */
export interface UsageReports {
  /** What one account, or principal of a foreign issuer, has used, by day, key and route. @param accountId an ID */
  read(accountId: string, days: DayRange): Promise<readonly UsageCount[]>
  /**
   * What all accounts have used, the newest account first, and then principals of foreign issuers, in chunks of text:
   * CSV with a header, or JSON lines.
   * @param onRead called with the number of accounts that were read so far, those without usage too
   */
  export(format: UsageFormat, days: DayRange, onRead?: (accounts: number) => void): AsyncGenerator<string>
  /** The days from one to another; by default from the first of the month of the last day, and until today. */
  parseDays(texts: DayTexts): DayRange | DayProblem
  /** All days of which counts are kept. */
  keptDays(): DayRange
}

type UsageFormat = 'csv' | 'jsonl'

/** Days such as `2026-11-23`. */
interface DayTexts {
  readonly from: string | undefined
  readonly to: string | undefined
}

/** What is wrong with one of the days. */
interface DayProblem {
  readonly field: keyof DayTexts
  readonly message: string
}

/** How many accounts are read at once for an export. */
const accountsAtOnce = 50

const columns = ['accountId', 'email', 'day', 'key', 'route', 'requests', 'units'] as const

export function createUsageReports(
  store: Pick<UsageStore, 'readUsage' | 'listUsagePrincipals'> & Pick<AccountStore, 'listAccounts'>,
  clock: Clock,
): UsageReports {
  const today = () => dayOf(clock())
  const oldestKept = () => today() - usageDaysKept

  async function read(accountId: string, { from, to }: DayRange): Promise<readonly UsageCount[]> {
    return store.readUsage(accountId, { from: Math.max(from, oldestKept()), to })
  }

  async function* exportAll(
    format: UsageFormat,
    days: DayRange,
    onRead?: (accounts: number) => void,
  ): AsyncGenerator<string> {
    if (format === 'csv') yield csvLine(columns)
    const lineOf = exportLine(format, columns)
    const rowsOf = async (accountId: string, email: string) =>
      (await read(accountId, days)).map((count) => lineOf({ accountId, email, ...usageData(count) })).join('')
    let count = 0
    for await (const accounts of readAllAccounts(store, accountsAtOnce)) {
      const used = await Promise.all(accounts.map(({ id, email }) => rowsOf(id, email)))
      yield* used.filter((text) => text !== '')
      count += accounts.length
      onRead?.(count)
    }
    for await (const principalId of listPrincipals()) yield await rowsOf(principalId, '')
  }

  /** Each principal once, though pages may repeat one. */
  async function* listPrincipals(): AsyncGenerator<string> {
    const listed = new Set<string>()
    for (let cursor: string | undefined; ; ) {
      const page = await store.listUsagePrincipals(cursor)
      for (const id of page.ids) {
        if (!listed.has(id)) yield id
        listed.add(id)
      }
      if (page.cursor === undefined) return
      cursor = page.cursor
    }
  }

  function parseDays(texts: DayTexts): DayRange | DayProblem {
    const to = texts.to === undefined ? today() : parseDay(texts.to)
    if (to === undefined) return { field: 'to', message: dayRule }
    const from = texts.from === undefined ? firstOfMonth(to) : parseDay(texts.from)
    if (from === undefined) return { field: 'from', message: dayRule }
    if (from > to) return { field: 'from', message: `must not be after ${formatDay(to)}` }
    if (to - from > usageDaysKept)
      return { field: 'from', message: `must be at most ${usageDaysKept} days before ${formatDay(to)}` }
    return { from, to }
  }

  return { read, export: exportAll, parseDays, keptDays: () => ({ from: oldestKept(), to: today() + 1 }) }
}

/** A count as the API, the commands and the exports show it. */
export function usageData({ day, key, route, requests, units }: UsageCount) {
  return { day: formatDay(day), key, route, requests, units }
}

/** What an account has used on some days, and what is left of its plan and of the quotas of its keys. */
export interface UsageReport {
  readonly days: DayRange
  /** undefined = the account has none. */
  readonly plan: PlanUse | undefined
  readonly keyQuotas: readonly KeyQuotaUse[]
  readonly counts: readonly UsageCount[]
}

export async function readUsageReport(
  { usage, plans }: { readonly usage: UsageReports; readonly plans: PlanReports },
  account: Pick<Account, 'id' | 'plan' | 'secretKeys'>,
  days: DayRange,
): Promise<UsageReport> {
  const [plan, keyQuotas, counts] = await Promise.all([
    plans.read(account),
    plans.readKeyQuotas(account),
    usage.read(account.id, days),
  ])
  return { days, plan, keyQuotas, counts }
}

/** As the API and the commands show it: a list of days, each with its sums and its counts by key and route. */
export function usageReportData({ days: { from, to }, plan, keyQuotas, counts }: UsageReport) {
  const days = [...Map.groupBy(counts, ({ day }) => day)].map(([day, ofDay]) => ({
    day: formatDay(day),
    ...totalOf(ofDay),
    used: ofDay.map(({ key, route, requests, units }) => ({ key, route, requests, units })),
  }))
  return {
    plan: planUseData(plan),
    keyQuotas: keyQuotas.map(keyQuotaUseData),
    from: formatDay(from),
    to: formatDay(to),
    days,
  }
}

/** What one account has used, as a CSV file. */
export function usageFile(counts: readonly UsageCount[]): FileDownload {
  const own = columns.filter((name) => name !== 'accountId' && name !== 'email')
  async function* chunks(): AsyncGenerator<string> {
    yield csvLine(own)
    yield counts.map(usageData).map(exportLine('csv', own)).join('')
  }
  return { name: 'usage.csv', type: 'text/csv; charset=utf-8', chunks: chunks() }
}
