import { createHistogram, performance, type RecordableHistogram } from 'node:perf_hooks'
import { type Aggregator, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { everySecond } from '#platform/every-second.ts'

/** Gauges of prom-client whose names end in _total, which Prometheus keeps for counters. */
const misnamed = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
]

/** Instruments of prom-client that would wake an idle process ten times a second. */
const sampled = ['nodejs_eventloop_utilization_summary', 'nodejs_eventloop_utilization_histogram']

/**
 * prom-client samples the event loop's lag and utilization, neither of which is needed, hence the longest interval that
 * a timer accepts. Its timer for the utilization cannot be stopped, but keeps no process alive.
 */
export const sampleIntervalMs = 2 ** 31 - 1

let processRegistry: Registry | undefined

/**
 * The instruments of prom-client for the process itself, once for all gateways in it: their observer of garbage
 * collections and their sampling of the event loop can never be stopped, and would keep every gateway that was ever
 * opened in memory.
 */
export function ofProcess(): Registry {
  if (processRegistry) return processRegistry
  processRegistry = new Registry()
  collectDefaultMetrics({
    register: processRegistry,
    eventLoopMonitoringPrecision: sampleIntervalMs,
    eventLoopUtilizationTimeout: sampleIntervalMs,
  })
  for (const name of [...misnamed, ...sampled]) processRegistry.removeSingleMetric(name)
  return processRegistry
}

/** How often the lag is sampled; in an idle process, which each sample wakes, once a second. */
const sampleMs = 100
/** An event loop that ran for less than this share of the time since the last sample is idle. */
const idleShare = 0.05
/** The smallest value that the histogram records, in nanoseconds. */
const minNs = 1

interface LagStatistic {
  readonly help: string
  /** How the values of several workers are merged. */
  readonly aggregator: Aggregator
  /** In nanoseconds. */
  read(lags: RecordableHistogram): number
}

const lagStatistics: Readonly<Record<string, LagStatistic>> = {
  min: { help: 'Minimum', aggregator: 'min', read: ({ min }) => min },
  mean: { help: 'Mean', aggregator: 'average', read: ({ mean }) => mean },
  stddev: { help: 'Standard deviation', aggregator: 'max', read: ({ stddev }) => stddev },
  p50: { help: 'Median', aggregator: 'max', read: (lags) => lags.percentile(50) },
  p90: { help: '90th percentile', aggregator: 'max', read: (lags) => lags.percentile(90) },
  p99: { help: '99th percentile', aggregator: 'max', read: (lags) => lags.percentile(99) },
  max: { help: 'Maximum', aggregator: 'max', read: ({ max }) => max },
}

/**
 * Exports the event loop lag since the last scrape, in seconds, under the metric names of prom-client. prom-client's
 * own values are the whole time between two samples (100 ms without any lag), and miss lag that begins just after a
 * scrape.
 */
export function collectEventLoopLag(registry: Registry) {
  const lags = createHistogram()
  let dueAt = performance.now() + sampleMs
  let use = performance.eventLoopUtilization()
  let timer: NodeJS.Timeout | undefined = setTimeout(sampleBusy, sampleMs).unref()
  let stopIdle: (() => void) | undefined
  const gauges = Object.entries(lagStatistics).map(([statistic, { help, aggregator, read }]) => {
    const name = `nodejs_eventloop_lag_${statistic}_seconds`
    registry.removeSingleMetric(name)
    const options = { name, help: `${help} event loop lag.`, aggregator, registers: [registry] }
    return { gauge: new Gauge(options), read }
  })

  function sampleBusy(): void {
    sample(performance.now() - dueAt)
  }

  function sample(lateMs: number): void {
    lags.record(Math.max(minNs, Math.round(lateMs * 1e6)))
    const before = use
    use = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(use, before)
    if (utilization < idleShare) {
      stopIdle ??= everySecond(sample)
      return
    }
    stop()
    dueAt = performance.now() + sampleMs
    timer = setTimeout(sampleBusy, sampleMs).unref()
  }

  function stop(): void {
    clearTimeout(timer)
    stopIdle?.()
    stopIdle = undefined
  }

  /** To be called at a scrape: the gauges get the lag since the last one, and keep it until the next. */
  function update(): void {
    // Nothing was sampled since the last scrape: the values stay.
    if (lags.count === 0) return
    for (const { gauge, read } of gauges) gauge.set(read(lags) / 1e9)
    lags.reset()
  }

  return { update, stop }
}
