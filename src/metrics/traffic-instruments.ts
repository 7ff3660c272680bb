import { Counter, Gauge, type Registry } from 'prom-client'
import { FastCounter } from './counter.ts'
import { FastHistogram } from './histogram.ts'
import { register } from './instrument.ts'

/** From a cached key on loopback to a slow report, in seconds. */
const requestBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const overheadBuckets = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5]

/** The health of one target of an upstream. */
export interface TargetState {
  readonly upstream: string
  /** Its origin, as configured. */
  readonly target: string
  readonly isHealthy: boolean
}

/** What is told of requests, and of where they go. */
export function createTrafficInstruments(registry: Registry) {
  const registers = [registry]
  const requests = new FastCounter({
    name: 'gatehouse_http_requests_total',
    help: 'Requests answered, by route (or _gateway, _unmatched), method and status; 499 = the client left.',
    labelNames: ['route', 'method', 'code'],
  })
  const requestDuration = new FastHistogram({
    name: 'gatehouse_http_request_duration_seconds',
    help: 'Time from the head of a request to the end of its answer; for a WebSocket to its 101, recorded once it closes.',
    labelNames: ['route'],
    buckets: requestBuckets,
  })
  const overhead = new FastHistogram({
    name: 'gatehouse_overhead_duration_seconds',
    help: "The gateway's own share of the time of a proxied request: before it was sent on, and after the whole answer had come.",
    buckets: overheadBuckets,
  })
  const upstreamDuration = new FastHistogram({
    name: 'gatehouse_upstream_request_duration_seconds',
    help: 'Time from sending the head to an upstream to the end of its answer.',
    labelNames: ['upstream'],
    buckets: requestBuckets,
  })
  register(registry, [requests, requestDuration, overhead, upstreamDuration])
  const rateLimited = new Counter({
    name: 'gatehouse_rate_limited_total',
    help: 'Requests refused with 429, by route: for their rate, or for too many wrong credentials.',
    labelNames: ['route'],
    registers,
  })
  const connectionsDropped = new Counter({
    name: 'gatehouse_connections_dropped_total',
    help: 'Connections closed as soon as they came, as hardly any file descriptors were left.',
    registers,
  })
  const webSocketsOpen = new Gauge({
    name: 'gatehouse_websockets_open',
    help: 'WebSockets open.',
    registers,
  })

  return {
    requests,
    requestDuration,
    overhead,
    upstreamDuration,
    rateLimited,
    connectionsDropped,
    webSocketsOpen,
    ...createInFlightGauge(registry),
    ...createTargetHealth(registry),
  }
}

/** How many requests are under way: told when one begins, and when it ends. */
function createInFlightGauge(registry: Registry) {
  const registers = [registry]
  let inFlight = 0
  new Gauge({
    name: 'gatehouse_http_requests_in_flight',
    help: 'Requests under way.',
    registers,
    collect() {
      this.set(inFlight)
    },
  })
  return {
    requestStarted: () => {
      inFlight++
    },
    requestEnded: () => {
      inFlight--
    },
  }
}

function createTargetHealth(registry: Registry) {
  const registers = [registry]
  let readTargets = (): readonly TargetState[] => []
  new Gauge({
    name: 'gatehouse_upstream_target_healthy',
    help: '1 = the target gets requests, 0 = it was taken out; with several workers, the lowest value.',
    labelNames: ['upstream', 'target'],
    aggregator: 'min',
    registers,
    collect() {
      // Targets that a reload has removed must disappear.
      this.reset()
      for (const { isHealthy, ...labels } of readTargets()) this.set(labels, Number(isHealthy))
    },
  })
  return {
    /** @param read gives the present health of every target */
    collectTargetHealth: (read: () => readonly TargetState[]) => {
      readTargets = read
    },
  }
}
