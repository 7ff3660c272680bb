const units = [
  { name: 'day', ms: 86_400_000 },
  { name: 'hour', ms: 3_600_000 },
  { name: 'minute', ms: 60_000 },
  { name: 'second', ms: 1_000 },
] as const

/** A span for people: `24 hours`, `15 minutes`, `7 days`; in the largest unit of which it is a whole number. */
export function spanText(spanMs: number): string {
  // A day is said in hours, as it need not end at midnight.
  const unit = units.find(({ ms }) => spanMs % ms === 0 && (spanMs > ms || ms < 86_400_000))
  const count = unit ? spanMs / unit.ms : Math.ceil(spanMs / 1_000)
  return `${count} ${unit?.name ?? 'second'}${count === 1 ? '' : 's'}`
}
