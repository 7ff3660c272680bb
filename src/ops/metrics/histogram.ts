import {
  Instrument,
  type InstrumentOptions,
  labelList,
  PackedNumbers,
  type Sample,
  sampleLine,
} from './instrument.ts'

/**
 * The numbers of all series of a histogram, one row each: its sum, then its counts by bucket, not cumulative, of which
 * the last is for values above all bounds.
 */
class HistogramRows {
  readonly bounds: readonly number[]
  readonly width: number
  readonly #packed: PackedNumbers

  constructor(bounds: readonly number[]) {
    this.bounds = bounds
    this.width = bounds.length + 2
    this.#packed = new PackedNumbers(this.width)
  }

  get numbers(): Float64Array {
    return this.#packed.values
  }

  /** @returns the index of the new row */
  add(): number {
    return this.#packed.add(this.width)
  }

  /** @param start of a row @returns the index of the count */
  observe(start: number, value: number): number {
    const { bounds, numbers } = this
    // Most values are in one of the first buckets.
    let bucket = 0
    while (bucket < bounds.length && value > (bounds[bucket] ?? 0)) bucket++
    numbers[start] = (numbers[start] ?? 0) + value
    const place = start + 1 + bucket
    numbers[place] = (numbers[place] ?? 0) + 1
    return place
  }
}

class HistogramSeries {
  readonly #rows: HistogramRows
  /** Its index in the rows. */
  readonly start: number

  constructor(rows: HistogramRows) {
    this.#rows = rows
    this.start = rows.add()
  }

  observe(value: number): void {
    this.#rows.observe(this.start, value)
  }

  numbers(): readonly number[] {
    return [...this.#rows.numbers.subarray(this.start, this.start + this.#rows.width)]
  }
}

type Labels = Readonly<Record<string, string>>

/** A request whose trace shows what was counted. */
export interface Exemplar {
  readonly traceId: string
  /** What was observed, in seconds. */
  readonly value: number
  /** When, in milliseconds since the epoch. */
  readonly at: number
}

/** A histogram with one row of numbers for each series, instead of a sample with its labels for each bucket. */
export interface PackedHistogram {
  readonly name: string
  readonly help: string
  readonly type: 'histogram'
  readonly aggregator: 'sum'
  readonly bounds: readonly number[]
  readonly rows: readonly {
    readonly labels: Labels
    readonly numbers: readonly number[]
    /** By bucket, if it has any. */
    readonly exemplars?: readonly (readonly [bucket: number, exemplar: Exemplar])[]
  }[]
}

/** The exemplars of histograms, by series as the exposition has it; if there are several of a series, the last. */
export function exemplarsOf(histograms: readonly PackedHistogram[]): ReadonlyMap<string, Exemplar> {
  const bySeries = new Map<string, Exemplar>()
  for (const { name, bounds, rows } of histograms) {
    for (const { labels, exemplars = [] } of rows) {
      for (const [bucket, exemplar] of exemplars) {
        const series = `${name}_bucket{${labelList({ le: String(bounds[bucket] ?? '+Inf'), ...labels })}}`
        if (exemplar.at >= (bySeries.get(series)?.at ?? 0)) bySeries.set(series, exemplar)
      }
    }
  }
  return bySeries
}

/** A row as it is exposed: each bucket counts all values up to its bound, and the last one all values. */
function cumulate([sum = 0, ...own]: readonly number[]) {
  let count = 0
  const counts = own.map((added) => {
    count += added
    return count
  })
  return { sum, counts, count }
}

/** The combined counts of all series, by bound; Infinity for the last. */
export function countsByBound({ bounds, rows }: PackedHistogram): ReadonlyMap<number, number> {
  const total = Array.from({ length: bounds.length + 2 }, () => 0)
  for (const { numbers } of rows)
    for (const [index, number] of numbers.entries()) total[index] = (total[index] ?? 0) + number
  const { counts } = cumulate(total)
  return new Map(counts.map((count, index) => [bounds[index] ?? Number.POSITIVE_INFINITY, count]))
}

/** In the form for the registry. */
export function unpackHistogram({ bounds, rows, ...described }: PackedHistogram) {
  const values = rows.flatMap(({ labels, numbers }): readonly Sample[] => {
    const { name } = described
    const { sum, counts, count } = cumulate(numbers)
    return [
      ...[...bounds, '+Inf'].map((le, index) => ({
        labels: { le, ...labels },
        value: counts[index] ?? 0,
        metricName: `${name}_bucket`,
      })),
      { labels, value: sum, metricName: `${name}_sum` },
      { labels, value: count, metricName: `${name}_count` },
    ]
  })
  return { ...described, values }
}

/** A histogram whose series are looked up once and kept by the code that observes. */
export class FastHistogram extends Instrument<HistogramSeries> {
  readonly type = 'histogram'
  readonly #rows: HistogramRows
  /** The last traced observation of each bucket, by the index of its count. */
  readonly #exemplars = new Map<number, Exemplar>()

  constructor(options: InstrumentOptions & { readonly buckets: readonly number[] }) {
    super(options)
    this.#rows = new HistogramRows(options.buckets)
    if (this.labelNames.length === 0) this.labels()
  }

  protected createSeries(): HistogramSeries {
    return new HistogramSeries(this.#rows)
  }

  /**
   * Observes a value in the series with this index, for callers that keep thousands of indexes and no objects.
   * @param traceId of a sampled trace, as the exemplar of its bucket; undefined = there is none
   */
  observeAt(start: number, value: number, traceId: string | undefined): void {
    const place = this.#rows.observe(start, value)
    if (traceId !== undefined) this.#exemplars.set(place, { traceId, value, at: Date.now() })
  }

  packed(): PackedHistogram {
    const { name, help, type, aggregator } = this
    const rows = Array.from(this.series.values(), ({ labels, of }) => {
      const exemplars = this.#exemplarsOf(of.start)
      return { labels, numbers: of.numbers(), ...(exemplars.length > 0 && { exemplars }) }
    })
    return { name, help, type, aggregator, bounds: this.#rows.bounds, rows }
  }

  /** By bucket. @param start of a row */
  #exemplarsOf(start: number): readonly (readonly [number, Exemplar])[] {
    if (this.#exemplars.size === 0) return []
    return Array.from({ length: this.#rows.bounds.length + 1 }, (_, bucket) => bucket).flatMap((bucket) => {
      const exemplar = this.#exemplars.get(start + 1 + bucket)
      return exemplar ? [[bucket, exemplar] as const] : []
    })
  }

  protected samples(): readonly Sample[] {
    return unpackHistogram(this.packed()).values
  }

  protected sampleLines(): readonly string[] {
    const { name } = this
    const buckets = [...this.#rows.bounds, '+Inf'].map((le) => `${name}_bucket{le="${le}"`)
    const lines: string[] = []
    for (const { labels, of } of this.series.values()) {
      const list = labelList(labels)
      const ending = list === '' ? '}' : `,${list}}`
      const { sum, counts, count } = cumulate(of.numbers())
      buckets.forEach((bucket, index) => void lines.push(`${bucket}${ending} ${counts[index] ?? 0}`))
      lines.push(sampleLine(`${name}_sum`, list, sum), sampleLine(`${name}_count`, list, count))
    }
    return lines
  }
}
