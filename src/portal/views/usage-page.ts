import { fullName } from '#accounts/account-input.ts'
import type { KeyQuotaUse, PlanUse, QuotaUse } from '#accounts/usage/plan-reports.ts'
import type { UsageReport } from '#accounts/usage/reports.ts'
import { formatCount, time } from '#platform/pages/format.ts'
import { badge, card, emptyState, type Html, html, icon, rawHtml } from '#platform/pages/html.ts'
import { formatDay, spanText } from '#platform/time.ts'
import type { Account } from '#store/accounts.ts'
import { type DayRange, totalOf, type UsageCount } from '#store/usage.ts'
import type { PageFrame } from './frame.ts'
import { page } from './layout.ts'
import { cell, titleRow } from './parts.ts'

export interface UsageView extends UsageReport {
  readonly account: Pick<Account, 'id' | 'email' | 'firstName' | 'lastName'>
  readonly isOwn: boolean
  /** Path of the page, below the portal. */
  readonly path: string
}

/** What an account has used: a chart of its days, and sums by key and route. */
export function usagePage(frame: PageFrame, view: UsageView): Html {
  const { account, isOwn, days, plan, keyQuotas, counts, path } = view
  const { base } = frame
  const texts = frame.texts.usage
  const query = `from=${formatDay(days.from)}&to=${formatDay(days.to)}`
  return page(frame, {
    title: frame.texts.layout.sections['/usage'],
    section: isOwn ? '/usage' : '/accounts',
    lead: isOwn ? texts.ownLead : texts.lead(fullName(account) || account.email),
    actions: html`<a class="button" href="${base}${path}/export?${query}" download>${icon('download')}CSV</a>`,
    ...(!isOwn && { breadcrumb: { href: `/accounts/${account.id}`, text: account.email } }),
    body: html`${plan && planCard(frame, plan)}${keyQuotas.length > 0 && keyQuotasCard(frame, keyQuotas)}${daysForm(frame, view)}${counts.length === 0 ? noUsage(frame) : html`${daysCard(frame, days, counts)}${sumsCard(frame, counts)}`}`,
  })
}

/** What is left of the plan now. */
function planCard(frame: PageFrame, { name, isKnown, quota, rateLimit }: PlanUse): Html {
  const texts = frame.texts.usage
  return card({
    title: texts.plan(name),
    body: html`${!isKnown && html`<p>${texts.unknownPlan}</p>`}${quota && quotaPart(frame, quota, { id: 'quota' })}${
      rateLimit &&
      html`<p class="muted">${texts.burst(limitText(frame, rateLimit), formatCount(rateLimit.limit, frame.locale))}</p>`
    }`,
  })
}

/** Such as `100 requests per minute`. */
export function limitText(
  { texts: { usage }, locale }: PageFrame,
  { limit, perMs }: { readonly limit: number; readonly perMs: number },
): string {
  const requests = formatCount(limit, locale)
  const span = spanText(perMs, locale)
  return span.startsWith('1 ') ? usage.perUnit(requests, span.slice(2)) : usage.perSpan(requests, span)
}

/** What is left of the quotas of keys now. */
function keyQuotasCard(frame: PageFrame, quotas: readonly KeyQuotaUse[]): Html {
  return card({
    title: frame.texts.usage.keyQuotas,
    body: html`${quotas.map(({ key, ...use }) => quotaPart(frame, use, { id: `quota-of-${key}`, key }))}`,
  })
}

function quotaPart(
  frame: PageFrame,
  { limit, per, used, resetsAt }: QuotaUse,
  { id, key }: { readonly id: string; readonly key?: string },
): Html {
  const { locale } = frame
  const texts = frame.texts.usage
  const describe = per === 'day' ? texts.usedToday : texts.usedThisMonth
  const text = describe(formatCount(used, locale), formatCount(limit, locale), frame.quotaUnit)
  const at = time(resetsAt, frame)
  return html`<p id="${id}">${key !== undefined && html`<code>${key}</code>: `}${text} ${quotaBadge(frame, used / limit)}</p><progress class="quota${quotaMark(used / limit)}" max="${limit}" value="${Math.min(used, limit)}" aria-labelledby="${id}">${text}</progress>
<p class="muted">${per === 'day' ? texts.resetsOnDay(at) : texts.resetsInMonth(at, monthDay(resetsAt, frame))}</p>`
}

/** The class that colours the bar of a quota if little is left; `quotaBadge` says the same in words. */
function quotaMark(share: number): string {
  return share >= 1 ? ' full' : share >= 0.8 ? ' near' : ''
}

function quotaBadge({ texts: { usage } }: PageFrame, share: number): Html | undefined {
  if (share >= 1) return badge('bad', usage.usedUp)
  return share >= 0.8 ? badge('warn', usage.nearlyUsedUp) : undefined
}

function daysForm({ base, texts: { usage } }: PageFrame, { days, path }: UsageView): Html {
  return html`<form class="search" method="get" action="${base}${path}">
<div><label for="from">${usage.from}</label><input id="from" name="from" type="date" value="${formatDay(days.from)}"></div>
<div><label for="to">${usage.to}</label><input id="to" name="to" type="date" value="${formatDay(days.to)}"></div><button>${usage.show}</button></form>`
}

function noUsage({ texts: { usage } }: PageFrame): Html {
  return card({
    title: usage.days,
    isFlush: true,
    body: emptyState({
      icon: icon('usage'),
      title: usage.none,
      text: usage.noneHint,
    }),
  })
}

const chartWidth = 1_000
const chartHeight = 160

function daysCard(frame: PageFrame, { from, to }: DayRange, counts: readonly UsageCount[]): Html {
  const texts = frame.texts.usage
  const number = (value: number) => formatCount(value, frame.locale)
  const byDay = Map.groupBy(counts, ({ day }) => day)
  const sums = Array.from(
    { length: to - from + 1 },
    (_, index) => totalOf(byDay.get(from + index) ?? []).requests,
  )
  const most = Math.max(...sums)
  const all = number(totalOf(counts).requests)
  const text = texts.sum(all, formatDay(from), formatDay(to), number(most))
  const top = topOfAxis(most)
  const step = chartWidth / sums.length
  const bars = sums.map((requests, index) => {
    const height = Math.max(requests > 0 ? 1 : 0, Math.round((requests / top) * chartHeight))
    const place = `x="${round(index * step)}" y="${chartHeight - height}" width="${round(step * 0.8)}" height="${height}"`
    return html`<rect class="bar" ${rawHtml(place)}><title>${formatDay(from + index)}: ${number(requests)}</title></rect>`
  })
  return card({
    title: texts.days,
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

function sumsCard(frame: PageFrame, counts: readonly UsageCount[]): Html {
  const texts = frame.texts.usage
  const groups = Map.groupBy(counts, ({ key, route }) => JSON.stringify([key, route]))
  const rows = [...groups.values()].toSorted((a, b) => totalOf(b).requests - totalOf(a).requests)
  return card({
    title: texts.sums,
    lead: texts.sumsLead,
    isFlush: true,
    body: html`<table class="sums">${titleRow(Object.values(texts.columns))}<tbody>${rows.map((row) => sumRow(frame, row))}</tbody></table>`,
  })
}

function sumRow({ texts: { usage }, locale }: PageFrame, counts: readonly UsageCount[]): Html {
  const { columns, unknownKey } = usage
  const [first] = counts
  const { requests, units } = totalOf(counts)
  return html`<tr>${[
    cell(columns.key, html`<code>${first?.key === '' ? unknownKey : first?.key}</code>`),
    cell(columns.route, first?.route),
    cell(columns.requests, formatCount(requests, locale)),
    cell(columns.units, formatCount(units, locale)),
  ]}</tr>`
}

/** Such as `1 Dec`. */
function monthDay(at: number, { locale }: PageFrame): string {
  return new Date(at).toLocaleDateString(locale.tag, { day: 'numeric', month: 'short', timeZone: 'UTC' })
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
