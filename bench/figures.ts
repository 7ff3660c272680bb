/** The median, minimum and maximum of some figures. */
export interface Spread {
  readonly median: number
  readonly least: number
  readonly most: number
}

/** @throws Error if there are no figures */
export function spreadOf(figures: readonly number[]): Spread {
  if (figures.length === 0) throw new Error('no figures')
  return { median: quantile(figures, 0.5), least: Math.min(...figures), most: Math.max(...figures) }
}

/** The quantile of the figures; interpolated between neighbours for the median of an even number. */
export function quantile(figures: readonly number[], share: number): number {
  const sorted = Float64Array.from(figures).sort()
  const place = (sorted.length - 1) * share
  const below = sorted[Math.floor(place)] ?? Number.NaN
  const above = sorted[Math.ceil(place)] ?? Number.NaN
  return below + (above - below) * (place - Math.floor(place))
}

/** The ratios of two series, run by run: the speed of the machine cancels out. */
export function ratiosOf(figures: readonly number[], to: readonly number[]): readonly number[] {
  return figures.flatMap((figure, index) => (to[index] ? [figure / to[index]] : []))
}

/** As `1.23 (1.20-1.31)`. */
export function writeSpread({ median, least, most }: Spread, digits: number): string {
  return `${median.toFixed(digits)} (${least.toFixed(digits)}–${most.toFixed(digits)})`
}
