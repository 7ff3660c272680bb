import { Instrument, type InstrumentOptions, type Sample } from './instrument.ts'

/** One series of a histogram. */
export class HistogramSeries {
  readonly #bounds: readonly number[]
  /** Counts by bucket, not cumulated; the last is for values above all bounds. */
  readonly #counts: Float64Array
  #sum = 0

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds
    this.#counts = new Float64Array(bounds.length + 1)
  }

  observe(value: number): void {
    const bounds = this.#bounds
    // Most values are in one of the first buckets.
    let bucket = 0
    while (bucket < bounds.length && value > (bounds[bucket] ?? 0)) bucket++
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1
    this.#sum += value
  }

  samples(name: string, labels: Readonly<Record<string, string>>): Sample[] {
    let count = 0
    const buckets = [...this.#bounds, '+Inf'].map((le, index) => {
      count += this.#counts[index] ?? 0
      return { labels: { le, ...labels }, value: count, metricName: `${name}_bucket` }
    })
    const sum = { labels, value: this.#sum, metricName: `${name}_sum` }
    return [...buckets, sum, { labels, value: count, metricName: `${name}_count` }]
  }
}

/** A histogram whose series are looked up once and kept by the code that observes. */
export class FastHistogram extends Instrument {
  readonly type = 'histogram'
  readonly #bounds: readonly number[]
  readonly #series = new Map<
    string,
    { readonly labels: Record<string, string>; readonly of: HistogramSeries }
  >()

  constructor(options: InstrumentOptions & { readonly buckets: readonly number[] }) {
    super(options)
    this.#bounds = options.buckets
    if (this.labelNames.length === 0) this.labels()
  }

  /** The series of these label values, in the order of the label names. */
  labels(...values: readonly string[]): HistogramSeries {
    const key = values.length === 1 ? (values[0] ?? '') : values.join('\n')
    const known = this.#series.get(key)
    if (known) return known.of
    const series = { labels: this.labelsOf(values), of: new HistogramSeries(this.#bounds) }
    this.#series.set(key, series)
    return series.of
  }

  protected samples(): Sample[] {
    return [...this.#series.values()].flatMap(({ labels, of }) => of.samples(this.name, labels))
  }
}
