import type { Metric, Registry } from 'prom-client'

/** The description of an instrument. */
export interface InstrumentOptions {
  readonly name: string
  readonly help: string
  readonly labelNames?: readonly string[]
  /** A further label, which is omitted if it has no value. */
  readonly optionalLabel?: string
}

export interface Sample {
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
  /** The name of the sample, if it differs from the instrument's. */
  readonly metricName?: string
}

/**
 * An instrument that every request uses. prom-client looks up a series by its labels each time; here a series is looked
 * up once and kept.
 */
export abstract class Instrument<Series = unknown> {
  readonly name: string
  readonly help: string
  readonly labelNames: readonly string[]
  abstract readonly type: 'counter' | 'histogram'
  /** A label that only some series have; the last one. */
  readonly optionalLabel: string | undefined
  /** How the samples of several processes are merged, as prom-client reads it. */
  readonly aggregator = 'sum' as const
  /** By the values of their labels. */
  protected readonly series = new Map<
    string,
    { readonly labels: Readonly<Record<string, string>>; readonly of: Series }
  >()

  constructor({ name, help, labelNames = [], optionalLabel }: InstrumentOptions) {
    this.name = name
    this.help = help
    this.labelNames = optionalLabel === undefined ? labelNames : [...labelNames, optionalLabel]
    this.optionalLabel = optionalLabel
  }

  /** The series of these label values, in the order of the label names. */
  labels(...values: readonly string[]): Series {
    const key = values.length === 1 ? (values[0] ?? '') : values.join('\n')
    const known = this.series.get(key)
    if (known) return known.of
    const added = { labels: this.#labelsOf(values), of: this.createSeries() }
    this.series.set(key, added)
    return added.of
  }

  protected abstract createSeries(): Series

  protected abstract samples(): readonly Sample[]

  /** Its samples as lines of the exposition. */
  protected abstract sampleLines(): readonly string[]

  /** Its part of the exposition, as the registry would write it from `get`. */
  text(): string {
    return [...headLines(this), ...this.sampleLines()].join('\n')
  }

  /** For the registry. */
  async get() {
    const { name, help, type, aggregator } = this
    return { name, help, type, aggregator, values: this.samples() }
  }

  /** For the registry. */
  reset(): void {}

  #labelsOf(values: readonly string[]): Record<string, string> {
    const given = this.labelNames.map((name, index) => [name, values[index] ?? ''] as const)
    return Object.fromEntries(given.filter(([name, value]) => name !== this.optionalLabel || value !== ''))
  }
}

/** The count of one series. */
export interface Count {
  value: number
}

export class CounterSeries implements Count {
  readonly #numbers: PackedNumbers
  /** Its place among those of the counter. */
  readonly place: number

  constructor(numbers: PackedNumbers) {
    this.#numbers = numbers
    this.place = numbers.add(1)
  }

  get value(): number {
    return this.#numbers.values[this.place] ?? 0
  }

  set value(count: number) {
    this.#numbers.values[this.place] = count
  }
}

/** A counter whose series are looked up once and kept by the code that counts. */
export class FastCounter extends Instrument<CounterSeries> {
  readonly type = 'counter'
  readonly #numbers = new PackedNumbers(1)

  constructor(options: InstrumentOptions) {
    super(options)
    // Without labels there is one series, from the start.
    if (this.labelNames.length === 0) this.labels()
  }

  protected createSeries(): CounterSeries {
    return new CounterSeries(this.#numbers)
  }

  /** Increments the series with this index, for callers that keep thousands of indexes and no objects. */
  incAt(place: number): void {
    const { values } = this.#numbers
    values[place] = (values[place] ?? 0) + 1
  }

  protected samples(): readonly Sample[] {
    return Array.from(this.series.values(), ({ labels, of }) => ({ labels, value: of.value }))
  }

  protected sampleLines(): readonly string[] {
    return Array.from(this.series.values(), ({ labels, of }) =>
      sampleLine(this.name, labelList(labels), of.value),
    )
  }
}

/** Registers instruments that are not created by prom-client. */
export function register(registry: Registry, instruments: readonly Instrument[]): void {
  // The cast is sound: the registry uses only an instrument's name, and `get` for the samples.
  for (const instrument of instruments) registry.registerMetric(instrument as unknown as Metric)
}

/** The whole exposition in Prometheus text format. */
export async function exposition(registry: Registry): Promise<string> {
  const parts = registry
    .getMetricsAsArray()
    .map((metric) =>
      metric instanceof Instrument ? metric.text() : registry.getSingleMetricAsString(metric.name),
    )
  return `${(await Promise.all(parts)).join('\n\n')}\n`
}

/** The numbers of many series, adjacent in one array, which grows as series are added. Hot. */
export class PackedNumbers {
  values: Float64Array
  #end = 0

  /** @param length the initial capacity */
  constructor(length: number) {
    this.values = new Float64Array(length)
  }

  /**
   * @param count how many more adjacent numbers, at most `length`
   * @returns the index of the first
   */
  add(count: number): number {
    const start = this.#end
    this.#end += count
    if (this.#end > this.values.length) {
      const longer = new Float64Array(2 * this.values.length)
      longer.set(this.values)
      this.values = longer
    }
    return start
  }
}

export interface Described {
  readonly name: string
  readonly help: string
  readonly type: string
}

/** The lines before the samples of an instrument. */
function headLines({ name, help, type }: Described): string[] {
  return [`# HELP ${name} ${escapeText(help)}`, `# TYPE ${name} ${type}`]
}

/** Labels without braces: `a="1",b="2"`; empty where there are none. */
export function labelList(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${escapeText(value).replaceAll('"', '\\"')}"`)
    .join(',')
}

/** @param list as `labelList` writes it */
export function sampleLine(name: string, list: string, value: number): string {
  return list === '' ? `${name} ${value}` : `${name}{${list}} ${value}`
}

function escapeText(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
}
