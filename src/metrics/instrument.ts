import type { Metric, Registry } from 'prom-client'

/** The description of an instrument. */
export interface InstrumentOptions {
  readonly name: string
  readonly help: string
  readonly labelNames?: readonly string[]
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
  /** How the samples of several processes are merged, as prom-client reads it. */
  readonly aggregator = 'sum'

  constructor({ name, help, labelNames = [] }: InstrumentOptions) {
    this.name = name
    this.help = help
    this.labelNames = labelNames
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
    return Object.fromEntries(this.labelNames.map((name, index) => [name, values[index] ?? '']))
  }
}

/** Registers instruments that are not created by prom-client. */
export function register(registry: Registry, instruments: readonly Instrument[]): void {
  // The cast is sound: the registry uses only an instrument's name, and `get` for the samples.
  for (const instrument of instruments) registry.registerMetric(instrument as unknown as Metric)
}
