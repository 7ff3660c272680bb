import { dayMs } from '#platform/time.ts'

export const durationUnitsMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: dayMs } as const
const sizeUnitsBytes = { B: 1, KiB: 1_024, MiB: 1_048_576, GiB: 1_073_741_824 } as const

/** `250ms`, `30s`, `10m`, `24h`, `30d`: a whole number and one unit, with nothing in between. */
export const durationPattern = '^(\\d{1,12})(ms|s|m|h|d)$'

/** `512B`, `16KiB`, `10MiB`, `1GiB`: a whole number and one unit, with nothing in between. */
export const sizePattern = '^(\\d{1,12})(B|KiB|MiB|GiB)$'

/** Milliseconds of a duration such as `30s`; undefined if the text is not a duration. */
export function parseDurationMs(text: string): number | undefined {
  return scale(text, durationPattern, durationUnitsMs)
}

/** Bytes of a size such as `16KiB`; undefined if the text is not a size. */
export function parseSizeBytes(text: string): number | undefined {
  return scale(text, sizePattern, sizeUnitsBytes)
}

function scale(text: string, pattern: string, units: Readonly<Record<string, number>>): number | undefined {
  const [, amount, unit] = new RegExp(pattern).exec(text) ?? []
  if (amount === undefined || unit === undefined) return undefined
  const factor = units[unit]
  return factor === undefined ? undefined : Number(amount) * factor
}

/** The bounds of an option with a unit. */
export interface Bounds {
  readonly min: string
  readonly max: string
  /** A word that is a value, too. */
  readonly alternative?: string
}

export type DurationBounds = Omit<Bounds, 'alternative'>

export const isDurationWithin = isWithin(parseDurationMs)
export const isSizeWithin = isWithin(parseSizeBytes)

function isWithin(parse: (text: string) => number | undefined) {
  return (bounds: Bounds, text: string): boolean => {
    if (text === bounds.alternative) return true
    const value = parse(text)
    return value !== undefined && value >= (parse(bounds.min) ?? 0) && value <= (parse(bounds.max) ?? 0)
  }
}

/** `name=value,name=value`, percent-encoded, as in W3C Baggage; what is malformed is left out. */
export function parsePairs(text: string): Readonly<Record<string, string>> {
  const pairs = text.split(',').flatMap((pair) => {
    const [name = '', ...rest] = pair.split('=')
    const value = decoded(rest.join('=').trim())
    return name.trim() === '' || rest.length === 0 || value === undefined
      ? []
      : [[name.trim(), value] as const]
  })
  return Object.fromEntries(pairs)
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
