import { Histogram, type Registry } from 'prom-client'
import type { FastCounter } from './instrument.ts'
import { createInstrumentMaker, createSource, type InstrumentMaker } from './instrument-maker.ts'
import { metricNames } from './metric-names.ts'

/** From a cached key on loopback to a slow report, in seconds. */
const requestBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const overheadBuckets = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5]

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
      name: metricNames.requests,
      help: 'Requests answered, by route (or _gateway, _unmatched), method and status; 499 = the client closed the connection. Requests that other proxies ask about have listener="decide", redirected plain HTTP has listener="redirect".',
      labelNames: ['route', 'method', 'code'],
      optionalLabel: 'listener',
    }),
    requestsByVersion: fastCounter({
      name: metricNames.requestsByVersion,
      help: 'Requests answered, on all listeners, by the version of HTTP that the client spoke: 1.0, 1.1 or 2.',
      labelNames: ['version'],
    }),
    requestDuration: fastHistogram({
      name: metricNames.requestDuration,
      help: 'Time from the head of a request to the end of its response; for a WebSocket to its 101, recorded once it closes. Decisions for other proxies have listener="decide".',
      labelNames: ['route'],
      optionalLabel: 'listener',
      buckets: requestBuckets,
    }),
    overhead: fastHistogram({
      name: metricNames.overhead,
      help: 'Gateway overhead: time a proxied request spent in the gateway, before it was forwarded and after the whole response was received.',
      buckets: overheadBuckets,
    }),
    upstreamDuration: fastHistogram({
      name: metricNames.upstreamDuration,
      help: 'Time from sending the head to an upstream to the end of its response.',
      labelNames: ['upstream'],
      buckets: requestBuckets,
    }),
    rateLimited: counter({
      name: metricNames.rateLimited,
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
    webSocketsOpen: gauge({ name: metricNames.webSocketsOpen, help: 'Open WebSocket connections.' }),
    ...createInFlightGauge(maker),
    ...createTargetHealth(maker),
  }
}

/** Requests in flight: call at the start and at the end of each. */
function createInFlightGauge({ readGauge }: InstrumentMaker) {
  let inFlight = 0
  const requestsInFlight = () => inFlight
  readGauge({ name: metricNames.requestsInFlight, help: 'Requests in flight.' }, requestsInFlight)
  return {
    requestsInFlight,
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
      name: metricNames.targetHealthy,
      help: '1 = the target gets requests, 0 = it is ejected; with several workers, the lowest value.',
      labelNames: ['upstream', 'target'],
      aggregator: 'min',
    },
    () => targets.read().map(({ upstream, target, isHealthy }) => [{ upstream, target }, Number(isHealthy)]),
  )
  readGauge(
    {
      name: metricNames.targetAddresses,
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

/** Instruments for authentication and the store. */
export function createAuthInstruments(registry: Registry) {
  const maker = createInstrumentMaker(registry)
  const { counter, gauge, fastCounter } = maker
  return {
    decisions: fastCounter({
      name: metricNames.decisions,
      help: 'Authentication and authorization decisions: scheme is secretKey, bearer, cookie (the access cookie) or none; reason is ok, anonymous or the error code.',
      labelNames: ['scheme', 'outcome', 'reason'],
    }),
    keyCache: fastCounter({
      name: metricNames.keyCache,
      help: 'Account cache look-ups: hit, negative_hit (known not to exist), miss, or stale (served while the store is unreachable).',
      labelNames: ['result'],
    }),
    tokensIssued: counter({
      name: metricNames.tokensIssued,
      help: 'Access tokens issued, by grant: keys, refresh or portal (for the cookie of a browser that is signed in there).',
      labelNames: ['grant'],
    }),
    storeUp: gauge({
      name: metricNames.storeUp,
      help: '1 = the store responded to the last request, 0 = it did not; with several workers, the lowest value.',
      aggregator: 'min',
    }),
    storeWritable: gauge({
      name: metricNames.storeWritable,
      help: '1 = the store accepts writes, 0 = it rejects them or is unreachable; with several workers, the lowest value.',
      aggregator: 'min',
    }),
    revocationReaders: gauge({
      name: 'gatehouse_revocation_readers',
      help: 'Backends that follow the stream of revocations (`tokens.revocationFeed`).',
    }),
    revocationDelay: new Histogram({
      name: metricNames.revocationDelay,
      help: 'Revocation delay: time from a change in the store (key reset, role change, account disabled, session ended, …) to its effect in this process.',
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
      registers: [registry],
    }),
    unknownPlanRequests: counter({
      name: 'gatehouse_unknown_plan_requests_total',
      help: 'Requests of accounts whose plan is not in the config: they are not limited by any plan.',
    }),
    ...createAcknowledgementInstruments(maker),
    ...createIssuerInstruments(maker),
  }
}

/** Counts a look-up in the account cache by its result; the series are looked up once. */
export function createLookUpCounter({ keyCache }: { readonly keyCache: FastCounter }) {
  const counts = {
    hit: keyCache.labels('hit'),
    negative_hit: keyCache.labels('negative_hit'),
    miss: keyCache.labels('miss'),
    stale: keyCache.labels('stale'),
  }
  return (result: keyof typeof counts): void => {
    counts[result].value++
  }
}

export interface IssuerState {
  readonly issuer: string
  /** How many of its keys are known; undefined = it has none that are used. */
  readonly keys: number | undefined
  /** Whether the last fetch of keys and the last question about a token succeeded. */
  readonly isUp: boolean
}

function createIssuerInstruments({ counter, readGauge }: InstrumentMaker) {
  const issuers = createSource<readonly IssuerState[]>([])
  readGauge(
    {
      name: 'gatehouse_issuer_up',
      help: '1 = the foreign issuer answered when it was last asked for its keys or about a token, 0 = it did not; with several workers, the lowest value.',
      labelNames: ['issuer'],
      aggregator: 'min',
    },
    () => issuers.read().map(({ issuer, isUp }) => [{ issuer }, Number(isUp)]),
  )
  readGauge(
    {
      name: 'gatehouse_issuer_keys',
      help: 'Known public keys of the foreign issuer; 0 = its tokens get 503; with several workers, the lowest value.',
      labelNames: ['issuer'],
      aggregator: 'min',
    },
    () => issuers.read().flatMap(({ issuer, keys }) => (keys === undefined ? [] : [[{ issuer }, keys]])),
  )
  return {
    issuerFetches: counter({
      name: 'gatehouse_issuer_fetches_total',
      help: 'How often the keys of a foreign issuer were fetched, by outcome: ok or failed.',
      labelNames: ['issuer', 'outcome'],
    }),
    issuerQuestions: counter({
      name: 'gatehouse_issuer_questions_total',
      help: 'How often a foreign issuer was asked about a token (introspection), by outcome: active, inactive or failed.',
      labelNames: ['issuer', 'outcome'],
    }),
    /** @param read returns the current state of every issuer */
    collectIssuers: issuers.set,
  }
}

/** Acknowledgements of issued refresh tokens to the store. */
function createAcknowledgementInstruments({ counter, readGauge }: InstrumentMaker) {
  const pending = createSource(0)
  readGauge(
    {
      name: 'gatehouse_refresh_acknowledgements_pending',
      help: 'Refresh tokens issued but not yet acknowledged to the store: until then the previous token stays valid, whatever `reuseGrace` is.',
    },
    pending.read,
  )
  return {
    acknowledgementsLost: counter({
      name: 'gatehouse_refresh_acknowledgements_lost_total',
      help: 'Refresh tokens issued whose acknowledgement was lost: the previous token stays valid until the new one is used.',
    }),
    /** @param read returns the number of pending ones */
    collectPendingAcknowledgements: pending.set,
  }
}
