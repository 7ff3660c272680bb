import { type Html, html } from './html.ts'

const steps = [
  { unit: 'day', ms: 86_400_000, smaller: 3_600_000 },
  { unit: 'hour', ms: 3_600_000, smaller: 60_000 },
  { unit: 'minute', ms: 60_000, smaller: 0 },
] as const

/** From here on a date is shown. */
const relativeMsMax = 31 * 86_400_000

/**
 * Such as `3 hours ago`, `in 5 minutes`, `just now`; `11 Oct 2026` from a month on. Past times are rounded towards now,
 * future ones to the nearest unit: otherwise a link valid for 15 minutes would be shown as 14.
 */
export function relativeTime(at: number, now: number): string {
  const difference = at - now
  if (Math.abs(difference) >= relativeMsMax)
    return new Date(at).toLocaleDateString('en-GB', { dateStyle: 'medium', timeZone: 'UTC' })
  const round = difference < 0 ? Math.ceil : Math.round
  // A value that rounds up to the next unit is given in that unit: 1 hour, not 60 minutes.
  const step = steps.find(
    ({ ms, smaller }) => Math.abs(difference) >= ms - (difference < 0 ? 0 : smaller / 2),
  )
  if (step) return relativeText(round(difference / step.ms), step.unit)
  return difference > 1_000 ? 'in less than a minute' : 'just now'
}

/** Such as `3 hours ago`. */
function relativeText(count: number, unit: string): string {
  const amount = Math.abs(count)
  const words = `${amount} ${unit}${amount === 1 ? '' : 's'}`
  return count < 0 ? `${words} ago` : `in ${words}`
}

/** A relative time, with the exact time in UTC as a tooltip. */
export function time(at: number, now: number): Html {
  const iso = new Date(at).toISOString()
  return html`<time datetime="${iso}" title="${formatUtc(at)}">${relativeTime(at, now)}</time>`
}

/** Such as `2026-11-21 14:03:22 UTC`. */
function formatUtc(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`
}

/** An exact time, for lists that people scan. */
export function exactTime(at: number): Html {
  return html`<time datetime="${new Date(at).toISOString()}">${formatUtc(at)}</time>`
}
