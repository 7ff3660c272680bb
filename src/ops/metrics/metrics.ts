import { type MetricObjectWithValues, type MetricValue, Registry } from 'prom-client'
import { exemplarsOf, FastHistogram, type PackedHistogram, unpackHistogram } from './histogram.ts'
import { type Described, exposition } from './instrument.ts'
import { createInstrumentMaker, createSource } from './instrument-maker.ts'
import { createAuthInstruments, createTrafficInstruments } from './instruments.ts'
import { metricNames, ownPrefix } from './metric-names.ts'
import { toOpenMetrics } from './open-metrics-format.ts'
import { collectEventLoopLag, ofProcess } from './process-metrics.ts'

/** The values of the instruments of one process. */
export type MetricsSnapshot = readonly MetricObjectWithValues<MetricValue<string>>[]

/** A smaller form to be kept, or sent to another process: a tenth of the size with thousands of routes. */
export type PackedSnapshot = readonly (MetricsSnapshot[number] | PackedHistogram)[]

export type Metrics = ReturnType<typeof openMetrics>

/** Every instrument of the gateway. Labels take values from closed sets: never a path, key, user or client address. */
export function openMetrics({ version }: { readonly version: string }) {
  const registry = Registry.merge([ofProcess()])
  const lag = collectEventLoopLag(registry)
  const traffic = createTrafficInstruments(registry)

  return {
    ...traffic,
    ...createAuthInstruments(registry),
    ...createOperationInstruments(registry, version),
    /** All metrics as plain JSON, to be merged with those of other processes. */
    snapshot: (): Promise<MetricsSnapshot> => registry.getMetricsAsJSON(),
    /** All metrics, packed. @param isScrape whether they will be read: then the lag counts anew, as after `text` */
    packedSnapshot: (isScrape: boolean) => {
      if (isScrape) lag.update()
      return pack(registry, registry.getMetricsAsArray())
    },
    /** Only what the gateway counts itself, packed: the system has to be asked for the rest. */
    ownSnapshot: () =>
      pack(
        registry,
        registry.getMetricsAsArray().filter(({ name }) => name.startsWith(ownPrefix)),
      ),
    /** The whole exposition: in Prometheus text format, or as OpenMetrics. */
    text: async (isOpenMetrics = false): Promise<string> => {
      lag.update()
      const text = await exposition(registry)
      return isOpenMetrics ? toOpenMetrics(text, exemplarsOf([traffic.requestDuration.packed()])) : text
    },
    contentType: registry.contentType,
    /** Every instrument, for the reference. */
    describe: () => registry.getMetricsAsArray().map(describeInstrument),
    /** Stops the sampling. */
    close: lag.stop,
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

/** Turns a packed snapshot back into what `snapshot` returns. */
export function unpackSnapshot(packed: PackedSnapshot): MetricsSnapshot {
  // The cast is sound: the label of a bucket is a number, whatever the library's type says.
  return packed.map((metric) => ('rows' in metric ? unpackHistogram(metric) : metric)) as MetricsSnapshot
}

export interface Description extends Described {
  readonly labelNames: readonly string[]
}

/** The cast is sound: an instrument keeps the label names that it was created with, which its type omits. */
function describeInstrument(metric: object): Description {
  const { name, help, type, labelNames } = metric as Description
  return { name, help, type, labelNames }
}

/** Instruments for the process: its events, its config, its workers, its traces and its build. */
function createOperationInstruments(registry: Registry, version: string) {
  const { counter, gauge, fastCounter, readGauge } = createInstrumentMaker(registry)
  const pendingEvents = createSource(0)
  readGauge(
    {
      name: 'gatehouse_events_pending',
      help: 'Entries of the audit log that receivers of events have not accepted yet; each receiver is counted by the process that delivers to it.',
    },
    pendingEvents.read,
  )
  const instruments = {
    /** @param read returns the number of pending ones */
    collectPendingEvents: pendingEvents.set,
    eventsDelivered: counter({
      name: 'gatehouse_events_delivered_total',
      help: 'Events that were sent to receivers, by result: delivered, failed (it is tried again) or dropped (not accepted for three days).',
      labelNames: ['result'],
    }),
    lastReload: gauge({
      name: metricNames.lastReload,
      help: '1 = the last reload succeeded, or there was none; 0 = it was rejected, and the previous config stays active.',
      aggregator: 'min',
    }),
    reloads: counter({
      name: metricNames.reloads,
      help: 'Reloads, by outcome: taken, refused (the config has problems) or failed (it could not be applied).',
      labelNames: ['outcome'],
    }),
    workersUp: gauge({ name: metricNames.workersUp, help: 'Workers currently serving requests.' }),
    workerHangs: counter({
      name: metricNames.workerHangs,
      help: 'Workers that stopped responding and were killed and replaced.',
    }),
    workerDeaths: counter({
      name: metricNames.workerDeaths,
      help: 'Workers that exited unexpectedly; each is replaced.',
    }),
    usageLost: counter({
      name: 'gatehouse_usage_lost_total',
      help: 'Requests that were served but are missing in the usage of their accounts: too much waited to be written while the store was unavailable.',
    }),
    spans: fastCounter({
      name: 'gatehouse_trace_spans_total',
      help: 'Spans of traces, by outcome: sent, dropped (the queue was full) or failed (the collector did not accept them).',
      labelNames: ['outcome'],
    }),
  }
  instruments.lastReload.set(1)
  instruments.workersUp.set(1)
  const build = {
    name: 'gatehouse_build_info',
    labelNames: ['version', 'node'],
    aggregator: 'first',
  } as const
  gauge({ ...build, help: 'Always 1; the labels identify the running build.' }).set(
    { version, node: process.version },
    1,
  )
  return instruments
}
