import { fullName } from '#accounts/account-input.ts'
import type { KeyQuotaUse, PlanUse, QuotaUse } from '#accounts/plan-reports.ts'
import { time } from '#platform/pages/format.ts'
import { type Html, html, rawHtml } from '#platform/pages/html.ts'
import { badge, card, emptyState, icon } from '#platform/pages/parts.ts'
import { formatDay, spanText } from '#platform/time.ts'
import type { Account } from '#store/account.ts'
import { type DayRange, totalOf, type UsageCount } from '#store/usage.ts'
import type { PageFrame } from './frame.ts'
import { page } from './layout.ts'
import { cell, titleRow } from './parts.ts'

export interface UsageView {
  readonly account: Pick<Account, 'id' | 'email' | 'firstName' | 'lastName'>
  readonly isOwn: boolean
  readonly days: DayRange
  /** undefined = the account has none. */
  readonly plan: PlanUse | undefined
  readonly keyQuotas: readonly KeyQuotaUse[]
  readonly counts: readonly UsageCount[]
  /** Path of the page, below the portal. */
  readonly path: string
}

/** What an account has used: a chart of its days, and sums by key and route. */
export function usagePage(frame: PageFrame, view: UsageView): Html {
  const { account, isOwn, days, plan, keyQuotas, counts, path } = view
  const { base } = frame
  const query = `from=${formatDay(days.from)}&to=${formatDay(days.to)}`
  return page(frame, {
    title: 'Usage',
    section: isOwn ? '/usage' : '/accounts',
    lead: isOwn
      ? 'Requests that were forwarded for your account, per UTC day.'
      : `Requests that were forwarded for ${fullName(account) || account.email}, per UTC day.`,
    actions: html`<a class="button" href="${base}${path}/export?${query}" download>${icon('download')}CSV</a>`,
    ...(!isOwn && { breadcrumb: { href: `/accounts/${account.id}`, text: account.email } }),
    body: html`${plan && planCard(frame, plan)}${keyQuotas.length > 0 && keyQuotasCard(frame, keyQuotas)}${daysForm(frame, view)}${counts.length === 0 ? noUsage() : html`${daysCard(days, counts)}${sumsCard(counts)}`}`,
  })
}

/** What is left of the plan now. */
function planCard(frame: PageFrame, { name, isKnown, quota, rateLimit }: PlanUse): Html {
  return card({
    title: `Plan: ${name}`,
    body: html`${!isKnown && html`<p>This plan no longer exists, so the account is not limited.</p>`}${quota && quotaPart(frame, quota, { id: 'quota' })}${
      rateLimit &&
      html`<p class="muted">${limitText(rateLimit)}, in bursts of up to ${number(rateLimit.limit)}.</p>`
    }`,
  })
}

/** Such as `100 requests per minute`. */
export function limitText({ limit, perMs }: { readonly limit: number; readonly perMs: number }): string {
  return `${number(limit)} requests ${perText(perMs)}`
}

/** Such as `per minute`, `every 30 seconds`. */
function perText(spanMs: number): string {
  const span = spanText(spanMs)
  return span.startsWith('1 ') ? `per ${span.slice(2)}` : `every ${span}`
}

/** What is left of the quotas of keys now. */
function keyQuotasCard(frame: PageFrame, quotas: readonly KeyQuotaUse[]): Html {
  return card({
    title: 'Quotas of keys',
    body: html`${quotas.map(({ key, ...use }) => quotaPart(frame, use, { id: `quota-of-${key}`, key }))}`,
  })
}

function quotaPart(
  frame: PageFrame,
  { limit, per, used, resetsAt }: QuotaUse,
  { id, key }: { readonly id: string; readonly key?: string },
): Html {
  const text = `${number(used)} of ${number(limit)} requests used ${per === 'day' ? 'today' : 'this month'} (UTC)`
  return html`<p id="${id}">${key !== undefined && html`<code>${key}</code>: `}${text} ${quotaBadge(used / limit)}</p><progress class="quota${quotaMark(used / limit)}" max="${limit}" value="${Math.min(used, limit)}" aria-labelledby="${id}">${text}</progress>
<p class="muted">Resets ${time(resetsAt, frame)} (${per === 'month' && `${monthDay(resetsAt)}, `}00:00 UTC).</p>`
}

/** The bar of a quota says by its colour, and in words, that little is left. */
function quotaMark(share: number): string {
  return share >= 1 ? ' full' : share >= 0.8 ? ' near' : ''
}

function quotaBadge(share: number): Html | undefined {
  if (share >= 1) return badge('bad', 'Used up')
  return share >= 0.8 ? badge('warn', 'Nearly used up') : undefined
}

function daysForm({ base }: PageFrame, { days, path }: UsageView): Html {
  return html`<form class="search" method="get" action="${base}${path}">
<div><label for="from">From</label><input id="from" name="from" type="date" value="${formatDay(days.from)}"></div>
<div><label for="to">To</label><input id="to" name="to" type="date" value="${formatDay(days.to)}"></div><button>Show</button></form>`
}

function noUsage(): Html {
  return card({
    title: 'Days',
    isFlush: true,
    body: emptyState({
      icon: icon('usage'),
      title: 'No requests on these days',
      text: 'Requests appear here within a few seconds.',
    }),
  })
}

const chartWidth = 1_000
const chartHeight = 160

function daysCard({ from, to }: DayRange, counts: readonly UsageCount[]): Html {
  const byDay = Map.groupBy(counts, ({ day }) => day)
  const sums = Array.from(
    { length: to - from + 1 },
    (_, index) => totalOf(byDay.get(from + index) ?? []).requests,
  )
  const most = Math.max(...sums)
  const text = `${number(totalOf(counts).requests)} requests from ${formatDay(from)} to ${formatDay(to)}, at most ${number(most)} a day.`
  const top = topOfAxis(most)
  const step = chartWidth / sums.length
  const bars = sums.map((requests, index) => {
    const height = Math.max(requests > 0 ? 1 : 0, Math.round((requests / top) * chartHeight))
    const place = `x="${round(index * step)}" y="${chartHeight - height}" width="${round(step * 0.8)}" height="${height}"`
    return html`<rect class="bar" ${rawHtml(place)}><title>${formatDay(from + index)}: ${number(requests)}</title></rect>`
  })
  return card({
    title: 'Days',
    lead: text,
    body: html`<div class="chart"><div class="axis" aria-hidden="true"><span>${number(top)}</span>${top > 1 && html`<span>${number(top / 2)}</span>`}<span>0</span></div><svg class="days" viewBox="0 0 ${chartWidth} ${chartHeight}" preserveAspectRatio="none" role="img" aria-label="${text}">${gridLines}${bars}</svg>
<div class="row between muted"><span>${formatDay(from)}</span><span>${formatDay(to)}</span></div></div>`,
  })
}

const gridLines = rawHtml(
  [0, 0.5].map((at) => `<path class="grid" d="M0 ${at * chartHeight}H${chartWidth}"/>`).join(''),
)

/** The round number at the top of the axis, such as 2,000 for 1,234; its half is whole too, unless it is 1. */
function topOfAxis(most: number): number {
  const power = 10 ** Math.floor(Math.log10(most))
  const top = [1, 2, 4, 6, 8, 10].find((factor) => factor * power >= most) ?? 10
  return top * power
}

function sumsCard(counts: readonly UsageCount[]): Html {
  const groups = Map.groupBy(counts, ({ key, route }) => JSON.stringify([key, route]))
  const rows = [...groups.values()].toSorted((a, b) => totalOf(b).requests - totalOf(a).requests)
  const titles = ['Key', 'Route', 'Requests', 'Units']
  return card({
    title: 'Keys and routes',
    lead: 'A unit is the cost a backend reports; 1 by default.',
    isFlush: true,
    body: html`<table class="sums">${titleRow(titles)}<tbody>${rows.map(sumRow)}</tbody></table>`,
  })
}

function sumRow(counts: readonly UsageCount[]): Html {
  const [first] = counts
  const { requests, units } = totalOf(counts)
  return html`<tr>${[
    cell('Key', html`<code>${first?.key === '' ? 'unknown' : first?.key}</code>`),
    cell('Route', html`${first?.route}`),
    cell('Requests', html`${number(requests)}`),
    cell('Units', html`${number(units)}`),
  ]}</tr>`
}

/** Such as `1 Dec`. */
function monthDay(at: number): string {
  return new Date(at).toLocaleDateString('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })
}

function number(value: number): string {
  return value.toLocaleString('en-GB')
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
