import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue, Registry } from 'prom-client'
import {
  type Exemplar,
  exemplarsOf,
  FastHistogram,
  type PackedHistogram,
  unpackHistogram,
} from './histogram.ts'
import { type Described, exposition } from './instrument.ts'
import { createInstrumentMaker, createSource } from './instrument-maker.ts'
import { createAuthInstruments, createTrafficInstruments } from './instruments.ts'
import { collectEventLoopLag, ofProcess } from './process-metrics.ts'

/** The values of the instruments of one process. */
export type MetricsSnapshot = readonly MetricObjectWithValues<MetricValue<string>>[]

/** A smaller form to be kept, or sent to another process: a tenth of the size with thousands of routes. */
export type PackedSnapshot = readonly (MetricsSnapshot[number] | PackedHistogram)[]

export type Metrics = ReturnType<typeof openMetrics>

/** Every instrument of the gateway. Labels take values from closed sets: never a path, key, user or client address. */
export function openMetrics({ version }: { readonly version: string }) {
  const registry = Registry.merge([ofProcess()])
  const close = collectEventLoopLag(registry)
  const traffic = createTrafficInstruments(registry)

  return {
    ...traffic,
    ...createAuthInstruments(registry),
    ...createOperationInstruments(registry, version),
    /** All metrics as plain JSON, to be merged with those of other processes. */
    snapshot: (): Promise<MetricsSnapshot> => registry.getMetricsAsJSON(),
    /** All metrics, packed. */
    packedSnapshot: () => pack(registry, registry.getMetricsAsArray()),
    /** Only what the gateway counts itself, packed: reading the rest would reset its event loop statistics. */
    ownSnapshot: () =>
      pack(
        registry,
        registry.getMetricsAsArray().filter(({ name }) => name.startsWith('gatehouse_')),
      ),
    /** The whole exposition: in Prometheus text format, or as OpenMetrics. */
    text: async (isOpenMetrics = false): Promise<string> => {
      const text = await exposition(registry)
      return isOpenMetrics ? toOpenMetrics(text, exemplarsOf([traffic.requestDuration.packed()])) : text
    },
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

/** The snapshots of several processes. */
interface FleetSnapshots {
  /** The snapshot of the process that started the workers, with the metrics of the whole instance. */
  readonly instance: MetricsSnapshot
  readonly workers: readonly MetricsSnapshot[]
  /** The counts of workers that have exited. */
  readonly ended: MetricsSnapshot
}

export interface MergedMetrics {
  /** In Prometheus text format. */
  text(): Promise<string>
  snapshot(): Promise<MetricsSnapshot>
}

/** Metrics taken only from `instance`: they are meaningless in a worker. */
const instanceMetrics = new Set([
  'gatehouse_config_last_reload_successful',
  'gatehouse_config_reloads_total',
  'gatehouse_workers',
  'gatehouse_worker_deaths_total',
  'gatehouse_worker_hangs_total',
])
const cumulativeTypes = new Set<unknown>(['counter', 'histogram'])

/** Merges all snapshots: counts are summed, a gauge is merged by its meaning. */
export function mergeMetrics({ instance, workers, ended }: FleetSnapshots): MergedMetrics {
  const snapshots = [
    ...workers.map((snapshot) => snapshot.filter(({ name }) => !instanceMetrics.has(name))),
    ended.filter(({ name }) => !instanceMetrics.has(name)),
    instance.filter(({ name }) => instanceMetrics.has(name)),
  ]
  const merged = AggregatorRegistry.aggregate(snapshots)
  return { text: () => merged.metrics(), snapshot: () => merged.getMetricsAsJSON() }
}

/** Adds the counts of an exited process to those of earlier ones; its gauges are dropped. */
export function addCumulative(kept: MetricsSnapshot, last: MetricsSnapshot): Promise<MetricsSnapshot> {
  const counts = last.filter(({ type }) => cumulativeTypes.has(type))
  return AggregatorRegistry.aggregate([[...kept], counts]).getMetricsAsJSON()
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
      name: 'gatehouse_config_last_reload_successful',
      help: '1 = the last reload succeeded, or there was none; 0 = it was rejected, and the previous config stays active.',
      aggregator: 'min',
    }),
    reloads: counter({
      name: 'gatehouse_config_reloads_total',
      help: 'Reloads, by outcome: taken, refused (the config has problems) or failed (it could not be applied).',
      labelNames: ['outcome'],
    }),
    workersUp: gauge({ name: 'gatehouse_workers', help: 'Workers currently serving requests.' }),
    workerHangs: counter({
      name: 'gatehouse_worker_hangs_total',
      help: 'Workers that stopped responding and were killed and replaced.',
    }),
    workerDeaths: counter({
      name: 'gatehouse_worker_deaths_total',
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

/** The media type of OpenMetrics 1.0. */
export const openMetricsType = 'application/openmetrics-text; version=1.0.0; charset=utf-8'

/** Whether a scraper prefers OpenMetrics to the Prometheus text format. @param accept its Accept field */
export function prefersOpenMetrics(accept: string): boolean {
  const ranges = accept.toLowerCase().split(',')
  const weightOf = (type: string) =>
    Math.max(0, ...ranges.filter((range) => range.trim().startsWith(type)).map(qualityOf))
  return weightOf('application/openmetrics-text') > weightOf('text/plain')
}

function qualityOf(range: string): number {
  const [, quality = '1'] = /;\s?q=([\d.]{1,5})/.exec(range) ?? []
  return Number(quality)
}

/**
 * The same exposition as OpenMetrics 1.0, with exemplars, which the text format of Prometheus has no place for.
 * @param text in that format
 * @param exemplars by series, as the text has it: `name_bucket{le="1",route="a"}`
 */
export function toOpenMetrics(text: string, exemplars: ReadonlyMap<string, Exemplar>): string {
  const lines: string[] = []
  for (const line of text.split('\n')) {
    if (line.startsWith('# ')) lines.push(withFamilyName(line))
    else if (line.includes('_bucket{')) lines.push(withExemplar(line, exemplars))
    else if (line !== '') lines.push(line)
  }
  lines.push('# EOF\n')
  return lines.join('\n')
}

/** The name of a counter is there without `_total`, which only its samples have; quotes are escaped. */
function withFamilyName(line: string): string {
  const [hash = '', keyword = '', name = '', ...rest] = line.split(' ')
  return [hash, keyword, name.replace(/_total$/, ''), rest.join(' ').replaceAll('"', '\\"')].join(' ')
}

/** A bound is written as a number with a fraction or an exponent: the same in every exposition. */
function withExemplar(line: string, exemplars: ReadonlyMap<string, Exemplar>): string {
  const sample = line.replace(/([{,]le="\d+)"/, '$1.0"')
  const exemplar = exemplars.size === 0 ? undefined : exemplars.get(line.slice(0, line.lastIndexOf(' ')))
  if (!exemplar) return sample
  const { traceId, value, at } = exemplar
  return `${sample} # {trace_id="${traceId}"} ${value} ${at / 1_000}`
}
