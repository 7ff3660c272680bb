import type { Metric, Registry } from 'prom-client'
import type { Instrument } from './instrument.ts'

/** Has a registry show instruments that are not made by prom-client. */
export function register(registry: Registry, instruments: readonly Instrument[]): void {
  // The cast is sound: the registry uses only an instrument's name, and `get` for the samples.
  for (const instrument of instruments) registry.registerMetric(instrument as unknown as Metric)
}
