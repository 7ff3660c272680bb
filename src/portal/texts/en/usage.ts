import type { QuotaUnit } from '#gateway/routes/route.ts'
import { type Content, html } from '#platform/pages/html.ts'

export const usage = {
  title: 'Usage',
  ownLead: 'Requests that were forwarded for your account, per UTC day.',
  lead: (name: string) => `Requests that were forwarded for ${name}, per UTC day.`,
  plan: (name: string) => `Plan: ${name}`,
  unknownPlan: 'This plan no longer exists, so the account is not limited.',
  /** Such as `100 requests per minute`. */
  perUnit: (requests: string, unit: string) => `${countIn(requests, 'requests')} per ${unit}`,
  /** Such as `100 requests every 30 seconds`. */
  perSpan: (requests: string, span: string) => `${countIn(requests, 'requests')} every ${span}`,
  burst: (limit: string, requests: string) => `${limit}, in bursts of up to ${requests}.`,
  keyQuotas: 'Quotas of keys',
  usedToday: (used: string, limit: string, unit: QuotaUnit) => `${used} of ${limit} ${unit} used today (UTC)`,
  usedThisMonth: (used: string, limit: string, unit: QuotaUnit) =>
    `${used} of ${limit} ${unit} used this month (UTC)`,
  /** @param at such as `in 1 hour` */
  resetsOnDay: (at: Content) => html`Resets ${at} (00:00 UTC).`,
  /** @param day such as `1 Dec` */
  resetsInMonth: (at: Content, day: string) => html`Resets ${at} (${day}, 00:00 UTC).`,
  usedUp: 'Used up',
  nearlyUsedUp: 'Nearly used up',
  from: 'From',
  to: 'To',
  show: 'Show',
  days: 'Days',
  none: 'No requests on these days',
  noneHint: 'Requests appear here within a few seconds.',
  /** The days are as in ISO 8601. */
  sum: (requests: string, from: string, to: string, most: string) =>
    `${requests} requests from ${from} to ${to}, at most ${most} a day.`,
  sums: 'Keys and routes',
  sumsLead: 'A unit is the cost a backend reports; 1 by default.',
  columns: { key: 'Key', route: 'Route', requests: 'Requests', units: 'Units' },
  unknownKey: 'unknown',
}

const counted = {
  requests: { one: 'request', many: 'requests' },
  units: { one: 'unit', many: 'units' },
} as const

/** Such as `1 request`, `3 units`. @param count as it is shown */
export function countIn(count: string, unit: QuotaUnit): string {
  const { one, many } = counted[unit]
  return `${count} ${count === '1' ? one : many}`
}
