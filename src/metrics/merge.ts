import { AggregatorRegistry } from 'prom-client'
import type { MetricsSnapshot } from './metrics.ts'

/** The snapshots of several processes. */
export interface SnapshotsOfFleet {
  /** The snapshot of the process that started the workers: it knows the instance as a whole. */
  readonly instance: MetricsSnapshot
  readonly workers: readonly MetricsSnapshot[]
  /** The counts of workers that have ended. */
  readonly ended: MetricsSnapshot
}

export interface MergedMetrics {
  /** In Prometheus text format. */
  text(): Promise<string>
  snapshot(): Promise<MetricsSnapshot>
}

/** Metrics taken only from `instance`: in a worker they mean nothing. */
const ofInstance = new Set([
  'gatehouse_config_last_reload_successful',
  'gatehouse_config_reloads_total',
  'gatehouse_workers',
  'gatehouse_worker_deaths_total',
  'gatehouse_worker_hangs_total',
])
const growing = new Set<unknown>(['counter', 'histogram'])

/** Merges all snapshots: counts are summed, a gauge is merged by its meaning. */
export function mergeMetrics({ instance, workers, ended }: SnapshotsOfFleet): MergedMetrics {
  const ofAll = [
    ...workers.map((snapshot) => snapshot.filter(({ name }) => !ofInstance.has(name))),
    ended.filter(({ name }) => !ofInstance.has(name)),
    instance.filter(({ name }) => ofInstance.has(name)),
  ]
  const merged = AggregatorRegistry.aggregate(ofAll)
  return { text: () => merged.metrics(), snapshot: () => merged.getMetricsAsJSON() }
}

/** Adds the counts of a process that has ended to those kept from earlier ones; its gauges are dropped. */
export function keepCounts(kept: MetricsSnapshot, last: MetricsSnapshot): Promise<MetricsSnapshot> {
  const counts = last.filter(({ type }) => growing.has(type))
  return AggregatorRegistry.aggregate([[...kept], counts]).getMetricsAsJSON()
}
