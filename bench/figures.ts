/** What the middle one of some figures is, and between which they lie. */
export interface Spread {
  readonly median: number
  readonly least: number
  readonly most: number
}

/** @throws Error where there is nothing to choose from */
export function spreadOf(figures: readonly number[]): Spread {
  if (figures.length === 0) throw new Error('no figures')
  return { median: quantile(figures, 0.5), least: Math.min(...figures), most: Math.max(...figures) }
}

/** The figure below which that share of all lies; between two neighbours for the middle of an even number. */
export function quantile(figures: readonly number[], share: number): number {
  const sorted = Float64Array.from(figures).sort()
  const place = (sorted.length - 1) * share
  const below = sorted[Math.floor(place)] ?? Number.NaN
  const above = sorted[Math.ceil(place)] ?? Number.NaN
  return below + (above - below) * (place - Math.floor(place))
}

/** Run by run, how many times as much one is as another: the speed of the machine cancels out. */
export function ratiosOf(figures: readonly number[], to: readonly number[]): readonly number[] {
  return figures.flatMap((figure, index) => (to[index] ? [figure / to[index]] : []))
}

/** As `1.23 (1.20-1.31)`. */
export function writeSpread({ median, least, most }: Spread, digits: number): string {
  return `${median.toFixed(digits)} (${least.toFixed(digits)}–${most.toFixed(digits)})`
}
