import { parseDurationMs, parseSizeBytes } from './units.ts'

/** What to write instead of a value in an invalid format: the end of a message, or an empty text. */

const durationWords: Readonly<Record<string, string>> = {
  millisecond: 'ms',
  msec: 'ms',
  second: 's',
  sec: 's',
  minute: 'm',
  min: 'm',
  hour: 'h',
  hr: 'h',
  day: 'd',
}
const sizeWords: Readonly<Record<string, string>> = {
  byte: 'B',
  b: 'B',
  k: 'KiB',
  kb: 'KiB',
  kib: 'KiB',
  m: 'MiB',
  mb: 'MiB',
  mib: 'MiB',
  g: 'GiB',
  gb: 'GiB',
  gib: 'GiB',
}

/** For a value that is not a duration, such as `30`, `5 minutes` or `1h30m`; empty if it is only out of range. */
export function durationHint(value: unknown): string {
  if (typeof value === 'string' && parseDurationMs(value) !== undefined) return ''
  if (typeof value === 'number') return `: add the unit, such as ${value}s or ${value}ms`
  if (typeof value !== 'string') return ''
  if (/^\d+$/.test(value)) return `: add the unit, such as ${value}s or ${value}ms`
  const seconds = sumOfParts(value)
  if (seconds !== undefined) return `: one number and one unit, such as ${seconds}`
  return withUnit(value, durationWords)
}

/** For a value that is not a size, such as `10`, `16 KiB` or `10MB`; empty if it is only out of range. */
export function sizeHint(value: unknown): string {
  if (typeof value === 'string' && parseSizeBytes(value) !== undefined) return ''
  if (typeof value === 'number' || (typeof value === 'string' && /^\d+$/.test(value))) {
    return `: add the unit, such as ${value}KiB or ${value}MiB`
  }
  return typeof value === 'string' ? withUnit(value, sizeWords) : ''
}

/**
 * For a secret that was written into the file. It is only repeated if it is the name of a file: anything else may be
 * the secret itself, and messages are logged.
 */
export function secretHint(value: unknown): string {
  const isFileName = typeof value === 'string' && /^[\w./-]{1,100}\.(?:pem|crt|cer|key|txt)$/i.test(value)
  return isFileName ? `write { file: ${value} }` : 'write { file: PATH } or { env: NAME }'
}

/** `1h30m` in its smallest unit; undefined if the value is not of several parts. */
function sumOfParts(value: string): string | undefined {
  if (!/^(?:\d{1,6}(?:ms|s|m|h|d)){2,}$/.test(value)) return undefined
  const parts = [...value.matchAll(/(\d+)(ms|s|m|h|d)/g)]
  const scale = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
  // The casts are sound: the pattern names only these units.
  const totalMs = parts.reduce((sum, [, n, unit]) => sum + Number(n) * scale[unit as keyof typeof scale], 0)
  const unit = (['d', 'h', 'm', 's', 'ms'] as const).find((name) => totalMs % scale[name] === 0) ?? 'ms'
  return `${totalMs / scale[unit]}${unit}`
}

function withUnit(value: string, units: Readonly<Record<string, string>>): string {
  const [, amount, word = ''] = /^(\d+)\s*([a-z]+)$/i.exec(value) ?? []
  const name = word.toLowerCase()
  const known = Object.values(units).find((symbol) => symbol.toLowerCase() === name)
  const unit = known ?? units[name] ?? units[name.replace(/s$/, '')]
  return amount === undefined || unit === undefined ? '' : `, did you mean ${amount}${unit}?`
}
