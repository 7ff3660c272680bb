import { collectDefaultMetrics, type MetricObjectWithValues, type MetricValue, Registry } from 'prom-client'
import { createAuthInstruments } from './auth-instruments.ts'
import { collectEventLoopLag } from './event-loop-lag.ts'
import { FastHistogram, type PackedHistogram, unpackHistogram } from './histogram.ts'
import { exposition } from './instrument.ts'
import { createOperationInstruments } from './operation-instruments.ts'
import type { Described } from './text-format.ts'
import { createTrafficInstruments } from './traffic-instruments.ts'

/** Gauges of prom-client whose names end in _total, which Prometheus keeps for counters. */
const misnamed = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
]

/** Instruments of prom-client that would wake an idle process ten times a second. */
const sampled = ['nodejs_eventloop_utilization_summary', 'nodejs_eventloop_utilization_histogram']

/** The values of the instruments of one process. */
export type MetricsSnapshot = readonly MetricObjectWithValues<MetricValue<string>>[]

/** The same to be kept, or sent to another process: of a tenth of the size where there are thousands of routes. */
export type PackedSnapshot = readonly (MetricsSnapshot[number] | PackedHistogram)[]

/**
 * prom-client samples the event loop's lag and utilization, neither of which is needed: hence the longest interval that
 * a timer takes. Its timer for the utilization cannot be stopped, but keeps no process alive.
 */
export const sampleIntervalMs = 2 ** 31 - 1

export type Metrics = ReturnType<typeof createMetrics>

/** Every instrument of the gateway. Labels take values from closed sets: never a path, key, user or address of a client. */
export function createMetrics({ version }: { readonly version: string }) {
  const registry = new Registry()
  collectDefaultMetrics({
    register: registry,
    eventLoopMonitoringPrecision: sampleIntervalMs,
    eventLoopUtilizationTimeout: sampleIntervalMs,
  })
  for (const name of [...misnamed, ...sampled]) registry.removeSingleMetric(name)
  const close = collectEventLoopLag(registry)

  return {
    ...createTrafficInstruments(registry),
    ...createAuthInstruments(registry),
    ...createOperationInstruments(registry, version),
    /** All metrics as plain JSON, to be merged with those of other processes. */
    snapshot: (): Promise<MetricsSnapshot> => registry.getMetricsAsJSON(),
    /** The same, packed. */
    packedSnapshot: () => pack(registry, registry.getMetricsAsArray()),
    /** Packed too, and only what the gateway counts itself: reading the rest would reset its event loop statistics. */
    ownSnapshot: () =>
      pack(
        registry,
        registry.getMetricsAsArray().filter(({ name }) => name.startsWith('gatehouse_')),
      ),
    /** The whole exposition in Prometheus text format. */
    text: () => exposition(registry),
    contentType: registry.contentType,
    /** Every instrument, for the reference. */
    describe: () => registry.getMetricsAsArray().map(describeInstrument),
    /** Stops the sampling. */
    close,
  }
}

function pack(registry: Registry, metrics: readonly { readonly name: string }[]): Promise<PackedSnapshot> {
  return Promise.all(
    metrics.flatMap(({ name }) => {
      const metric: { get(): Promise<MetricsSnapshot[number]> } | undefined = registry.getSingleMetric(name)
      return metric instanceof FastHistogram ? metric.packed() : (metric?.get() ?? [])
    }),
  )
}

/** As `snapshot` gives it. */
export function unpackSnapshot(packed: PackedSnapshot): MetricsSnapshot {
  // The cast is sound: the label of a bucket is a number, whatever the library's type says.
  return packed.map((metric) => ('rows' in metric ? unpackHistogram(metric) : metric)) as MetricsSnapshot
}

interface Description extends Described {
  readonly labelNames: readonly string[]
}

/** The cast is sound: an instrument keeps the label names that it was created with, which its type leaves out. */
function describeInstrument(metric: object): Description {
  const { name, help, type, labelNames } = metric as Description
  return { name, help, type, labelNames }
}
