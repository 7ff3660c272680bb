import { AggregatorRegistry } from 'prom-client'
import type { MetricsSnapshot } from './metrics.ts'

/** What several processes show. */
export interface SnapshotsOfFleet {
  /** Of the process that started the workers: it knows the instance as a whole. */
  readonly instance: MetricsSnapshot
  readonly workers: readonly MetricsSnapshot[]
  /** What workers counted that are no more. */
  readonly ended: MetricsSnapshot
}

export interface MergedMetrics {
  /** In Prometheus text format. */
  text(): Promise<string>
  snapshot(): Promise<MetricsSnapshot>
}

/** Told by the instance alone: what its workers say of it is nothing. */
const ofInstance = new Set([
  'gatehouse_config_last_reload_successful',
  'gatehouse_config_reloads_total',
  'gatehouse_workers',
  'gatehouse_worker_deaths_total',
])
const growing = new Set<unknown>(['counter', 'histogram'])

/** One of all: what is counted is summed, a gauge is merged by what it means. */
export function mergeMetrics({ instance, workers, ended }: SnapshotsOfFleet): MergedMetrics {
  const ofAll = [
    ...workers.map((snapshot) => snapshot.filter(({ name }) => !ofInstance.has(name))),
    ended.filter(({ name }) => !ofInstance.has(name)),
    instance.filter(({ name }) => ofInstance.has(name)),
  ]
  const merged = AggregatorRegistry.aggregate(ofAll)
  return { text: () => merged.metrics(), snapshot: () => merged.getMetricsAsJSON() }
}

/** What stays of a process that ended, beside that of those before it: its counts; its gauges end with it. */
export function keepCounts(kept: MetricsSnapshot, last: MetricsSnapshot): Promise<MetricsSnapshot> {
  const counts = last.filter(({ type }) => growing.has(type))
  return AggregatorRegistry.aggregate([[...kept], counts]).getMetricsAsJSON()
}
