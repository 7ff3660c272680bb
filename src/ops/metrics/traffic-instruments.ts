import type { Registry } from 'prom-client'
import { createInstrumentMaker, createSource, type InstrumentMaker } from './instrument-maker.ts'

/** From a cached key on loopback to a slow report, in seconds. */
const requestBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const overheadBuckets = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5]

/** The health of one target of an upstream. */
export interface TargetState {
  readonly upstream: string
  /** Its name, such as `http://10.0.0.11:3000`. */
  readonly target: string
  readonly isHealthy: boolean
  /** How many addresses its host name has, with `resolve: all`; undefined = it is one server. */
  readonly addresses?: { readonly healthy: number; readonly ejected: number } | undefined
}

/** Instruments for requests and upstreams. */
export function createTrafficInstruments(registry: Registry) {
  const maker = createInstrumentMaker(registry)
  const { counter, gauge, fastCounter, fastHistogram } = maker
  return {
    requests: fastCounter({
      name: 'gatehouse_http_requests_total',
      help: 'Requests answered, by route (or _gateway, _unmatched), method and status; 499 = the client closed the connection. Requests that other proxies ask about have listener="decide", redirected plain HTTP has listener="redirect".',
      labelNames: ['route', 'method', 'code'],
      optionalLabel: 'listener',
    }),
    requestsByVersion: fastCounter({
      name: 'gatehouse_http_requests_by_version_total',
      help: 'Requests answered, on all listeners, by the version of HTTP that the client spoke: 1.0, 1.1 or 2.',
      labelNames: ['version'],
    }),
    requestDuration: fastHistogram({
      name: 'gatehouse_http_request_duration_seconds',
      help: 'Time from the head of a request to the end of its response; for a WebSocket to its 101, recorded once it closes. Decisions for other proxies have listener="decide".',
      labelNames: ['route'],
      optionalLabel: 'listener',
      buckets: requestBuckets,
    }),
    overhead: fastHistogram({
      name: 'gatehouse_overhead_duration_seconds',
      help: 'Gateway overhead: time a proxied request spent in the gateway, before it was forwarded and after the whole response was received.',
      buckets: overheadBuckets,
    }),
    upstreamDuration: fastHistogram({
      name: 'gatehouse_upstream_request_duration_seconds',
      help: 'Time from sending the head to an upstream to the end of its response.',
      labelNames: ['upstream'],
      buckets: requestBuckets,
    }),
    rateLimited: counter({
      name: 'gatehouse_rate_limited_total',
      help: 'Requests refused with 429, by route: for their rate, or for too many invalid credentials.',
      labelNames: ['route'],
    }),
    connectionsDropped: counter({
      name: 'gatehouse_connections_dropped_total',
      help: 'Connections dropped on accept because almost no file descriptors were left.',
    }),
    http2ConnectionsCut: counter({
      name: 'gatehouse_http2_connections_cut_total',
      help: 'HTTP/2 connections cut off because of what their clients did, such as a flood of frames.',
    }),
    webSocketsOpen: gauge({ name: 'gatehouse_websockets_open', help: 'Open WebSocket connections.' }),
    ...createInFlightGauge(maker),
    ...createTargetHealth(maker),
  }
}

/** Requests in flight: call at the start and at the end of each. */
function createInFlightGauge({ readGauge }: InstrumentMaker) {
  let inFlight = 0
  readGauge({ name: 'gatehouse_http_requests_in_flight', help: 'Requests in flight.' }, () => inFlight)
  return {
    requestStarted: () => {
      inFlight++
    },
    requestEnded: () => {
      inFlight--
    },
  }
}

function createTargetHealth({ readGauge }: InstrumentMaker) {
  const targets = createSource<readonly TargetState[]>([])
  readGauge(
    {
      name: 'gatehouse_upstream_target_healthy',
      help: '1 = the target gets requests, 0 = it is ejected; with several workers, the lowest value.',
      labelNames: ['upstream', 'target'],
      aggregator: 'min',
    },
    () => targets.read().map(({ upstream, target, isHealthy }) => [{ upstream, target }, Number(isHealthy)]),
  )
  readGauge(
    {
      name: 'gatehouse_upstream_target_addresses',
      help: 'Addresses of a target with resolve: all, by state: healthy = it gets requests, ejected = it does not; with several workers, the highest number.',
      labelNames: ['upstream', 'target', 'state'],
      aggregator: 'max',
    },
    () =>
      targets
        .read()
        .flatMap(({ upstream, target, addresses = {} }) =>
          Object.entries(addresses).map(([state, count]) => [{ upstream, target, state }, count] as const),
        ),
  )
  return {
    /** @param read returns the current health of every target */
    collectTargetHealth: targets.set,
  }
}
