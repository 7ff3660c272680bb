import type { Metric, Registry } from 'prom-client'

/** The description of an instrument. */
export interface InstrumentOptions {
  readonly name: string
  readonly help: string
  readonly labelNames?: readonly string[]
  /** One more, which is left out where it has no value. */
  readonly optionalLabel?: string
}

export interface Sample {
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
  /** The name of the sample, if it differs from the instrument's. */
  readonly metricName?: string
}

/**
 * An instrument that every request uses. Those of prom-client look up a series by its labels each time, which costs as
 * much as parsing a small request; here a series is looked up once and kept.
 */
export abstract class Instrument {
  readonly name: string
  readonly help: string
  readonly labelNames: readonly string[]
  abstract readonly type: 'counter' | 'histogram'
  /** A label that only some series have; it is the last. */
  readonly optionalLabel: string | undefined
  /** How the samples of several processes are merged, as prom-client reads it. */
  readonly aggregator = 'sum'

  constructor({ name, help, labelNames = [], optionalLabel }: InstrumentOptions) {
    this.name = name
    this.help = help
    this.labelNames = optionalLabel === undefined ? labelNames : [...labelNames, optionalLabel]
    this.optionalLabel = optionalLabel
  }

  protected abstract samples(): Sample[]

  /** For the registry. */
  async get() {
    const { name, help, type, aggregator } = this
    return { name, help, type, aggregator, values: this.samples() }
  }

  /** For the registry. */
  reset(): void {}

  protected labelsOf(values: readonly string[]): Record<string, string> {
    const given = this.labelNames.map((name, index) => [name, values[index] ?? ''] as const)
    return Object.fromEntries(given.filter(([name, value]) => name !== this.optionalLabel || value !== ''))
  }
}

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

/**
 * The numbers of all series of a histogram, a row for each: its sum, then its counts by bucket, not cumulated, of which
 * the last is for values above all bounds. In one array, as requests to many routes find few of its lines in the core's
 * cache, and each array of its own would add three.
 */
class HistogramRows {
  readonly bounds: readonly number[]
  numbers: Float64Array
  readonly #width: number
  #end = 0

  constructor(bounds: readonly number[]) {
    this.bounds = bounds
    this.#width = bounds.length + 2
    this.numbers = new Float64Array(this.#width)
  }

  /** @returns where the new row begins */
  add(): number {
    const start = this.#end
    this.#end += this.#width
    if (this.#end > this.numbers.length) {
      const longer = new Float64Array(2 * this.numbers.length)
      longer.set(this.numbers)
      this.numbers = longer
    }
    return start
  }
}

/** One series of a histogram. */
class HistogramSeries {
  readonly #rows: HistogramRows
  readonly #start: number

  constructor(rows: HistogramRows) {
    this.#rows = rows
    this.#start = rows.add()
  }

  observe(value: number): void {
    const { bounds, numbers } = this.#rows
    const start = this.#start
    // Most values are in one of the first buckets.
    let bucket = 0
    while (bucket < bounds.length && value > (bounds[bucket] ?? 0)) bucket++
    numbers[start] = (numbers[start] ?? 0) + value
    numbers[start + 1 + bucket] = (numbers[start + 1 + bucket] ?? 0) + 1
  }

  samples(name: string, labels: Readonly<Record<string, string>>): Sample[] {
    const { bounds, numbers } = this.#rows
    let count = 0
    const buckets = [...bounds, '+Inf'].map((le, index) => {
      count += numbers[this.#start + 1 + index] ?? 0
      return { labels: { le, ...labels }, value: count, metricName: `${name}_bucket` }
    })
    const sum = { labels, value: numbers[this.#start] ?? 0, metricName: `${name}_sum` }
    return [...buckets, sum, { labels, value: count, metricName: `${name}_count` }]
  }
}

/** A histogram whose series are looked up once and kept by the code that observes. */
export class FastHistogram extends Instrument {
  readonly type = 'histogram'
  readonly #rows: HistogramRows
  readonly #series = new Map<
    string,
    { readonly labels: Record<string, string>; readonly of: HistogramSeries }
  >()

  constructor(options: InstrumentOptions & { readonly buckets: readonly number[] }) {
    super(options)
    this.#rows = new HistogramRows(options.buckets)
    if (this.labelNames.length === 0) this.labels()
  }

  /** The series of these label values, in the order of the label names. */
  labels(...values: readonly string[]): HistogramSeries {
    const key = values.length === 1 ? (values[0] ?? '') : values.join('\n')
    const known = this.#series.get(key)
    if (known) return known.of
    const series = { labels: this.labelsOf(values), of: new HistogramSeries(this.#rows) }
    this.#series.set(key, series)
    return series.of
  }

  protected samples(): Sample[] {
    return [...this.#series.values()].flatMap(({ labels, of }) => of.samples(this.name, labels))
  }
}

/** Registers instruments that are not created by prom-client. */
export function register(registry: Registry, instruments: readonly Instrument[]): void {
  // The cast is sound: the registry uses only an instrument's name, and `get` for the samples.
  for (const instrument of instruments) registry.registerMetric(instrument as unknown as Metric)
}
