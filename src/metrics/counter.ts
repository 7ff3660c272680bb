import { Instrument, type InstrumentOptions, type Sample } from './instrument.ts'

/** One series of a counter. */
export interface CounterSeries {
  value: number
}

/** A counter whose series are looked up once and kept by the code that counts. */
export class FastCounter extends Instrument {
  readonly type = 'counter'
  readonly #series = new Map<
    string,
    { readonly labels: Record<string, string>; readonly count: CounterSeries }
  >()

  constructor(options: InstrumentOptions) {
    super(options)
    // Without labels there is one series, from the start.
    if (this.labelNames.length === 0) this.labels()
  }

  /** The series of these label values, in the order of the label names. */
  labels(...values: readonly string[]): CounterSeries {
    const key = values.length === 1 ? (values[0] ?? '') : values.join('\n')
    const known = this.#series.get(key)
    if (known) return known.count
    const count = { value: 0 }
    this.#series.set(key, { labels: this.labelsOf(values), count })
    return count
  }

  protected samples(): Sample[] {
    return Array.from(this.#series.values(), ({ labels, count }) => ({ labels, value: count.value }))
  }
}
