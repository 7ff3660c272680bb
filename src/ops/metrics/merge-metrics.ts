import { AggregatorRegistry } from 'prom-client'
import { metricNames } from './metric-names.ts'
import type { MetricsSnapshot } from './metrics.ts'

interface FleetSnapshots {
  /** The snapshot of the process that started the workers, with the metrics of the whole instance. */
  readonly instance: MetricsSnapshot
  readonly workers: readonly MetricsSnapshot[]
  /** The counts of workers that have exited. */
  readonly ended: MetricsSnapshot
}

/** Metrics taken only from `instance`: they are meaningless in a worker. */
const instanceMetrics = new Set<string>([
  metricNames.lastReload,
  metricNames.reloads,
  metricNames.workersUp,
  metricNames.workerDeaths,
  metricNames.workerHangs,
])
const cumulativeTypes = new Set<unknown>(['counter', 'histogram'])

/** Merges all snapshots: counts are summed, a gauge is merged by its meaning. */
export function mergeMetrics({ instance, workers, ended }: FleetSnapshots) {
  const snapshots = [
    ...workers.map((snapshot) => snapshot.filter(({ name }) => !instanceMetrics.has(name))),
    ended.filter(({ name }) => !instanceMetrics.has(name)),
    instance.filter(({ name }) => instanceMetrics.has(name)),
  ]
  const merged = AggregatorRegistry.aggregate(snapshots)
  return {
    /** In Prometheus text format. */
    text: () => merged.metrics(),
    snapshot: (): Promise<MetricsSnapshot> => merged.getMetricsAsJSON(),
  }
}

/** Adds the counts of an exited process to those of earlier ones; its gauges are dropped. */
export function addCumulative(kept: MetricsSnapshot, last: MetricsSnapshot): Promise<MetricsSnapshot> {
  const counts = last.filter(({ type }) => cumulativeTypes.has(type))
  return AggregatorRegistry.aggregate([[...kept], counts]).getMetricsAsJSON()
}
