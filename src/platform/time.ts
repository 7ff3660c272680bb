import { performance } from 'node:perf_hooks'
import { english } from './languages.ts'

/**
 * Points in time, in milliseconds since 1970 by the clock of the system, which can be set forwards and backwards. They
 * are stored, signed, and compared with those of other machines.
 */
export type EpochMs = number & { readonly clock?: 'system' }

/**
 * Moments in this process, in milliseconds on the clock of performance.now(), for durations. It cannot be set, but may
 * stop while the machine is suspended.
 */
export type MonotonicMs = number & { readonly clock?: 'monotonic' }

/**
 * What is called `clock` reads the clock of the system, what is called `monotonic` the other. A function that has a
 * moment of both calls the first `time` and the second `now`.
 */
export type Clock = () => EpochMs
export type MonotonicClock = () => MonotonicMs

/** The global `performance` is a getter, too slow for each request. */
export const monotonicClock: MonotonicClock = () => performance.now()

/** Times of the system clocks of two instances are compared as if the clocks may differ by this much. */
export const clocksApartMs = 60_000

// A day here is a UTC day, as a whole number of days since 1970.

export const dayMs = 86_400_000

/** Such as `2026-11-23 14:03 UTC`. */
export function formatMinute(time: EpochMs): string {
  return `${new Date(time).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}

export function dayOf(time: EpochMs): number {
  return Math.floor(time / dayMs)
}

/** When a day begins. */
export function startOfDay(day: number): EpochMs {
  return day * dayMs
}

/** Such as `2026-11-23`. */
export function formatDay(day: number): string {
  return new Date(startOfDay(day)).toISOString().slice(0, 10)
}

/** What is said of a text that `parseDay` cannot read. */
export const dayRule = 'must be a day such as 2026-11-23'

/** The day in a text such as `2026-11-23`, from 1970 to 9999; undefined if it is none. */
export function parseDay(text: string): number | undefined {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || !isDay(text)) return undefined
  const day = dayOf(Date.parse(text))
  return day < 0 ? undefined : day
}

/** The first day of the month, or of a later month. */
export function firstOfMonth(day: number, later = 0): number {
  const date = new Date(startOfDay(day))
  return dayOf(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + later, 1))
}

/** The day of the month, from 1. */
export function dayOfMonth(day: number): number {
  return new Date(startOfDay(day)).getUTCDate()
}

/** What is said of a text that `parseTime` cannot read. */
export const timeRule = 'must be a time such as 2030-01-31T00:00:00Z'

const rfc3339 =
  /^(\d{4}-\d\d-\d\d)[Tt]([01]\d|2[0-3])(:[0-5]\d){2}(\.\d{1,9})?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/

/**
 * The time in a text as in RFC 3339 5.6, such as `2030-01-31T00:00:00Z`; undefined if it is none, or a leap second,
 * which no clock here supports.
 */
export function parseTime(text: string): EpochMs | undefined {
  const [, day] = rfc3339.exec(text) ?? []
  if (day === undefined || !isDay(day)) return undefined
  const time = Date.parse(text.toUpperCase())
  return Number.isNaN(time) ? undefined : time
}

/** Whether there is such a day: others are parsed as days of the next month, or not at all. @param day `2026-11-23` */
export function isDay(day: string): boolean {
  const time = Date.parse(day)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(day)
}

const units = [
  { name: 'day', ms: dayMs },
  { name: 'hour', ms: 3_600_000 },
  { name: 'minute', ms: 60_000 },
  { name: 'second', ms: 1_000 },
] as const

/** A duration for people: `24 hours`, `15 minutes`, `7 days`, in the largest unit that divides it. */
export function spanText(spanMs: number, { amount } = english): string {
  // A single day is given in hours, as it need not end at midnight.
  const unit = units.find(({ ms }) => spanMs % ms === 0 && (spanMs > ms || ms < dayMs))
  const count = unit ? spanMs / unit.ms : Math.ceil(spanMs / 1_000)
  return amount(count, unit?.name ?? 'second')
}
