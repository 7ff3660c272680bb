import { english, type Locale } from '../languages.ts'
import { dayMs, type EpochMs } from '../time.ts'
import { type Html, html } from './html.ts'

/** Such as `12,345`. */
export function formatCount(value: number, { tag } = english): string {
  return Math.round(value).toLocaleString(tag)
}

/** Such as `0.25` and `1,234`: three digits are enough. */
export function formatRate(count: number, seconds: number): string {
  return (count / Math.max(seconds, 1)).toLocaleString('en-GB', { maximumSignificantDigits: 3 })
}

/** Such as `2.4%`; a dash where the whole is 0. */
export function formatPercent(part: number, whole: number, { tag } = english): string {
  if (whole === 0) return '–'
  return (part / whole).toLocaleString(tag, { style: 'percent', maximumSignificantDigits: 3 })
}

/** Such as `0.42 ms`, `1.3 s`; a dash where nothing was measured. */
export function formatMilliseconds(value: number | undefined): string {
  if (value === undefined) return '–'
  const [shown, unit] = value >= 1_000 ? [value / 1_000, 's'] : [value, 'ms']
  return `${shown.toLocaleString('en-GB', { maximumSignificantDigits: shown < 100 ? 2 : 3 })} ${unit}`
}

/** Such as `45 s`, `12 min`, `3 h 5 min`, `4 d 2 h`: the two largest units. */
export function formatDuration(seconds: number): string {
  const whole = Math.round(seconds)
  if (whole < 60) return `${whole} s`
  const minutes = Math.floor(whole / 60)
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours < 24) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`
  return hours % 24 === 0 ? `${hours / 24} d` : `${Math.floor(hours / 24)} d ${hours % 24} h`
}

const steps = [
  { unit: 'day', ms: dayMs, smaller: 3_600_000 },
  { unit: 'hour', ms: 3_600_000, smaller: 60_000 },
  { unit: 'minute', ms: 60_000, smaller: 0 },
] as const

/** From this age on a date is shown. */
const relativeMsMax = 31 * dayMs

/** The moment at which a page is made, and its language. */
export interface PageMoment {
  readonly now: EpochMs
  readonly locale: Locale
}

/**
 * Such as `3 hours ago`, `in 5 minutes`, `just now`; `11 Oct 2026` from a month on. Past times are rounded towards now,
 * future ones to the nearest unit: otherwise a link valid for 15 minutes would be shown as 14.
 */
export function relativeTime(at: number, { now, locale }: PageMoment): string {
  const difference = at - now
  if (Math.abs(difference) >= relativeMsMax)
    return new Date(at).toLocaleDateString(locale.tag, { dateStyle: 'medium', timeZone: 'UTC' })
  const round = difference < 0 ? Math.ceil : Math.round
  // A value that rounds up to the next unit is given in that unit: 1 hour, not 60 minutes.
  const step = steps.find(
    ({ ms, smaller }) => Math.abs(difference) >= ms - (difference < 0 ? 0 : smaller / 2),
  )
  if (step) return locale.relative(round(difference / step.ms), step.unit)
  return difference > 1_000 ? locale.soon : locale.justNow
}

/** A relative time, with the exact time in UTC as a tooltip. */
export function time(at: number, moment: PageMoment): Html {
  const iso = new Date(at).toISOString()
  return html`<time datetime="${iso}" title="${formatUtc(at)}">${relativeTime(at, moment)}</time>`
}

/** Such as `2026-11-21 14:03:22 UTC`. */
function formatUtc(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`
}

/** An exact time, for lists that people scan. */
export function exactTime(at: number): Html {
  return html`<time datetime="${new Date(at).toISOString()}">${formatUtc(at)}</time>`
}
