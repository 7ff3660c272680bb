/** Such as `12,345`. */
export function formatCount(value: number): string {
  return Math.round(value).toLocaleString('en-GB')
}

/** Such as `0.25` and `1,234`: three digits are enough. */
export function formatRate(count: number, seconds: number): string {
  return (count / Math.max(seconds, 1)).toLocaleString('en-GB', { maximumSignificantDigits: 3 })
}

/** Such as `2.4%`; a dash where the whole is 0. */
export function formatPercent(part: number, whole: number): string {
  if (whole === 0) return '–'
  return (part / whole).toLocaleString('en-GB', { style: 'percent', maximumSignificantDigits: 3 })
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
