const rfc3339 =
  /^(\d{4}-\d\d-\d\d)[Tt]([01]\d|2[0-3])(:[0-5]\d){2}(\.\d{1,9})?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/

/**
 * The time of a text as in RFC 3339 5.6, such as `2030-01-31T00:00:00Z`, in milliseconds since 1970; undefined where it
 * names none. A leap second, which no clock here knows, is none either.
 */
export function parseTime(text: string): number | undefined {
  const [, day] = rfc3339.exec(text) ?? []
  if (day === undefined || !isDay(day)) return undefined
  const time = Date.parse(text.toUpperCase())
  return Number.isNaN(time) ? undefined : time
}

/** Days that do not exist are read as one of the next month, or as none. */
function isDay(day: string): boolean {
  const time = Date.parse(day)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(day)
}
