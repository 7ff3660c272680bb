import {
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  type Metric,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from 'prom-client'
import { FastCounter } from './counter.ts'
import { showEventLoopLag } from './event-loop-lag.ts'
import { FastHistogram } from './histogram.ts'

/** Gauges of prom-client whose names end in _total, which Prometheus keeps for counters. */
const misnamed = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
]

/** From a cached key on loopback to a slow report, in seconds. */
const requestBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const overheadBuckets = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5]

/** What the instruments of one process show. */
export type MetricsSnapshot = readonly MetricObjectWithValues<MetricValue<string>>[]

/** prom-client samples the lag of the event loop, too, which nobody asks it for: as seldom as can be. */
const lagSampleMs = 2 ** 31 - 1

/** How a target of an upstream is. */
export interface TargetState {
  readonly upstream: string
  /** Its origin, as configured. */
  readonly target: string
  readonly isHealthy: boolean
}

export type Metrics = ReturnType<typeof createMetrics>

/** Every instrument of the gateway. Labels take values from closed sets: never a path, key, user or address of a client. */
export function createMetrics(build: { readonly version: string }) {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: lagSampleMs })
  for (const name of misnamed) registry.removeSingleMetric(name)
  const close = showEventLoopLag(registry)

  const requests = new FastCounter({
    name: 'gatehouse_http_requests_total',
    help: 'Requests answered, by route (or _gateway, _unmatched), method and status; 499 = the client left.',
    labelNames: ['route', 'method', 'code'],
  })
  const requestDuration = new FastHistogram({
    name: 'gatehouse_http_request_duration_seconds',
    help: 'From the head of a request to the end of its answer; of a WebSocket, counted once it closes, to its 101.',
    labelNames: ['route'],
    buckets: requestBuckets,
  })
  const overhead = new FastHistogram({
    name: 'gatehouse_overhead_duration_seconds',
    help: "The gateway's own share of a proxied request: before it left, and after the whole answer had come.",
    buckets: overheadBuckets,
  })
  const upstreamDuration = new FastHistogram({
    name: 'gatehouse_upstream_request_duration_seconds',
    help: 'From the head sent to an upstream to the end of its answer.',
    labelNames: ['upstream'],
    buckets: requestBuckets,
  })
  let inFlight = 0
  new Gauge({
    name: 'gatehouse_http_requests_in_flight',
    help: 'Requests under way.',
    registers,
    collect() {
      this.set(inFlight)
    },
  })
  const decisions = new FastCounter({
    name: 'gatehouse_auth_decisions_total',
    help: 'Who may pass: scheme is secretKey, bearer or none; reason is ok, anonymous or the error code.',
    labelNames: ['scheme', 'outcome', 'reason'],
  })
  const keyCache = new FastCounter({
    name: 'gatehouse_key_cache_requests_total',
    help: 'Look-ups of accounts in the process: hit, negative_hit (known not to exist), miss, or stale (served while the store is out of reach).',
    labelNames: ['result'],
  })
  const tokensIssued = new Counter({
    name: 'gatehouse_tokens_issued_total',
    help: 'Access tokens issued, by what they were given for: keys or refresh.',
    labelNames: ['grant'],
    registers,
  })
  const storeUp = new Gauge({
    name: 'gatehouse_store_up',
    help: '1 = the store answered when it was last asked, 0 = it did not; of several workers the worst.',
    aggregator: 'min',
    registers,
  })
  const revocationDelay = new Histogram({
    name: 'gatehouse_revocation_delay_seconds',
    help: 'From a change in the store (reset, role, disabling, end of a session, …) to its effect in this process.',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
    registers,
  })
  const rateLimited = new Counter({
    name: 'gatehouse_rate_limited_total',
    help: 'Requests refused with 429, by route: for their rate, or for too many wrong credentials.',
    labelNames: ['route'],
    registers,
  })
  let readTargets = (): readonly TargetState[] => []
  new Gauge({
    name: 'gatehouse_upstream_target_healthy',
    help: '1 = the target gets requests, 0 = it was taken out; of several workers the worst.',
    labelNames: ['upstream', 'target'],
    aggregator: 'min',
    registers,
    collect() {
      // Of targets that a reload has removed nothing is to be left.
      this.reset()
      for (const { isHealthy, ...labels } of readTargets()) this.set(labels, Number(isHealthy))
    },
  })
  const webSocketsOpen = new Gauge({
    name: 'gatehouse_websockets_open',
    help: 'WebSockets open.',
    registers,
  })
  const lastReload = new Gauge({
    name: 'gatehouse_config_last_reload_successful',
    help: '1 = the last reload was taken, or there was none; 0 = it was refused, and the config before runs on.',
    aggregator: 'min',
    registers,
  })
  lastReload.set(1)
  const reloads = new Counter({
    name: 'gatehouse_config_reloads_total',
    help: 'Reloads, by outcome: taken, refused (the config is not good) or failed (it could not be carried out).',
    labelNames: ['outcome'],
    registers,
  })
  const workersUp = new Gauge({
    name: 'gatehouse_workers',
    help: 'Workers that take requests now.',
    registers,
  })
  workersUp.set(1)
  const workerDeaths = new Counter({
    name: 'gatehouse_worker_deaths_total',
    help: 'Workers that ended unasked; each is replaced.',
    registers,
  })
  const spans = new FastCounter({
    name: 'gatehouse_trace_spans_total',
    help: 'Spans of traces, by outcome: sent, dropped (too many waited) or failed (the collector did not take them).',
    labelNames: ['outcome'],
  })
  // The cast is sound: of an instrument the registry wants only its name, and `get` for the samples.
  const fast = [requests, requestDuration, overhead, upstreamDuration, decisions, keyCache, spans]
  for (const instrument of fast) registry.registerMetric(instrument as unknown as Metric)
  new Gauge({
    name: 'gatehouse_build_info',
    aggregator: 'first',
    help: 'Always 1; the labels say which build runs.',
    labelNames: ['version', 'node'],
    registers,
  }).set({ version: build.version, node: process.version }, 1)

  return {
    requests,
    requestDuration,
    overhead,
    upstreamDuration,
    begin: () => {
      inFlight++
    },
    end: () => {
      inFlight--
    },
    decisions,
    keyCache,
    spans,
    tokensIssued,
    storeUp,
    /** @param read how every target is at the moment */
    showTargets: (read: () => readonly TargetState[]) => {
      readTargets = read
    },
    revocationDelay,
    rateLimited,
    webSocketsOpen,
    lastReload,
    reloads,
    workersUp,
    workerDeaths,
    /** Everything as plain JSON, to be merged with that of other processes. */
    snapshot: (): Promise<MetricsSnapshot> => registry.getMetricsAsJSON(),
    /** The whole exposition in Prometheus text format. */
    text: () => registry.metrics(),
    contentType: registry.contentType,
    /** Every instrument, for the reference. */
    describe: () => registry.getMetricsAsArray().map(describeInstrument),
    /** Nothing is measured any more by itself. */
    close,
  }
}

interface Instrument {
  readonly name: string
  readonly help: string
  readonly type: string
  readonly labelNames: readonly string[]
}

/** The cast is sound: an instrument keeps the label names it was made with, which its type leaves out. */
function describeInstrument(metric: object): Instrument {
  const { name, help, type, labelNames } = metric as Instrument
  return { name, help, type, labelNames }
}
