import { parseDurationMs, parseSizeBytes } from './units.ts'

/** Values of an option that has a unit. */
export interface Bounds {
  readonly min: string
  readonly max: string
  /** A word that stands for a value too. */
  readonly alternative?: string
}

export const isDurationWithin = isWithin(parseDurationMs)
export const isSizeWithin = isWithin(parseSizeBytes)

function isWithin(parse: (text: string) => number | undefined) {
  return (bounds: Bounds, text: string): boolean => {
    if (text === bounds.alternative) return true
    const value = parse(text)
    return value !== undefined && value >= (parse(bounds.min) ?? 0) && value <= (parse(bounds.max) ?? 0)
  }
}
