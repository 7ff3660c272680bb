/** Days of UTC, as whole numbers of days since 1970. */

const dayMs = 86_400_000

/** @param time milliseconds since 1970 */
export function dayOf(time: number): number {
  return Math.floor(time / dayMs)
}

/** When a day begins, in milliseconds since 1970. */
export function startOfDay(day: number): number {
  return day * dayMs
}

/** Such as `2026-11-23`. */
export function formatDay(day: number): string {
  return new Date(startOfDay(day)).toISOString().slice(0, 10)
}

/** The day of a text such as `2026-11-23`, from 1970 to 9999; undefined where it names none. */
export function parseDay(text: string): number | undefined {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined
  const time = Date.parse(text)
  if (Number.isNaN(time) || time < 0) return undefined
  const day = dayOf(time)
  // Some days that do not exist are read as one of the next month.
  return formatDay(day) === text ? day : undefined
}

/** The first day of the month, or of one so many months later. */
export function firstOfMonth(day: number, later = 0): number {
  const date = new Date(startOfDay(day))
  return dayOf(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + later, 1))
}

/** The day of the month, from 1. */
export function dayOfMonth(day: number): number {
  return new Date(startOfDay(day)).getUTCDate()
}
