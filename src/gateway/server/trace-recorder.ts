import { onlyValueOf } from '#http/request-head.ts'
import type { Upstream } from '#http/upstream/upstream.ts'
import type { Exporter, Span } from '#ops/tracing/exporter.ts'
import type { Trace, Tracer } from '#ops/tracing/tracer.ts'
import { withoutBrackets } from '#platform/addresses.ts'
import { registeredMethods } from '#platform/http.ts'
import { hideSecrets } from '#platform/secrets/hide-secrets.ts'
import type { MonotonicMs } from '#platform/time.ts'
import { type Arrival, httpVersionOf } from '../arrival/arrival.ts'
import { recordTrace, type SentTo } from '../arrival/outcome.ts'
import { type Route, upstreamTarget } from '../routes/route.ts'
import { loggedPath, methodForLog, pathForLog } from './access-line.ts'

/** Finds the place of a finished request in its trace, and sends its spans if it is sampled. */
export type RecordTrace = (arrival: Arrival, now: MonotonicMs) => void

interface TraceRecorderOptions {
  readonly tracer: Tracer
  readonly exporter: Pick<Exporter, 'add'>
  /** By index. */
  readonly routes: readonly TracedRoute[]
}

type TracedRoute = Pick<Route<Upstream | undefined>, 'prefix' | 'rewrite' | 'depth' | 'upstream'>

/** What stands for a method that is not registered. */
const otherMethod = '_OTHER'
/** Longer values are cut: no browser sends as much. */
const userAgentMax = 256

/**
 * One span for the request, and one for the call to its upstream. Names and attributes are those of OpenTelemetry's
 * semantic conventions for HTTP; others begin with `gatehouse.`. Paths are as in the access log: without a query. Keys
 * and tokens are redacted in all that a client sends.
 */
export function createTraceRecorder({ tracer, exporter, routes }: TraceRecorderOptions): RecordTrace {
  return function record(arrival, now) {
    const { head, outcome } = arrival
    // A request that was not forwarded has none yet.
    const trace = outcome.trace ?? tracer.startTrace(head.rawHeaders)
    recordTrace(outcome, trace)
    if (!trace.isSampled) return
    const route = outcome.routeIndex === undefined ? undefined : routes[outcome.routeIndex]
    exporter.add(serverSpan(arrival, trace, route, now))
    const { sentAt, sentTo } = outcome
    if (sentAt === undefined || sentTo === undefined || route === undefined) return
    exporter.add(clientSpan(arrival, trace, { route, sentAt, sentTo, now }))
  }
}

function serverSpan(arrival: Arrival, trace: Trace, route: TracedRoute | undefined, now: MonotonicMs): Span {
  const { head, outcome, arrivedAt, requestId, client, exchange } = arrival
  const { status, code, decision } = outcome
  const httpRoute = route && (route.prefix || '/')
  const method = spanMethod(head.method)
  const isError = status !== undefined && status >= 500
  const userAgent = onlyValueOf(trace.rawHeaders, 'user-agent')
  return {
    traceId: trace.traceId,
    spanId: trace.spanId,
    parentSpanId: trace.parentId,
    kind: 'server',
    startMs: arrivedAt,
    endMs: now,
    name: httpRoute === undefined ? method : `${method} ${httpRoute}`,
    isError,
    attributes: {
      ...methodAttributes(head.method),
      'http.response.status_code': status,
      'http.route': httpRoute,
      'url.scheme': client.protocol,
      'url.path': loggedPath(arrival),
      // With a secret hidden it is no URL any more, and left out.
      ...addressAttributes(hideSecrets(`${client.protocol}://${client.host}`)),
      'client.address': client.address,
      'network.peer.address': exchange.peerAddress,
      'network.protocol.version': httpVersionOf(arrival),
      'user_agent.original': userAgent && hideSecrets(userAgent).slice(0, userAgentMax),
      'error.type': code ?? (isError ? String(status) : undefined),
      'gatehouse.route': outcome.route,
      'gatehouse.scheme': decision?.scheme,
      'gatehouse.request_id': requestId,
    },
  }
}

interface TracedCall {
  readonly route: TracedRoute
  readonly sentTo: SentTo
  readonly sentAt: MonotonicMs
  readonly now: MonotonicMs
}

function clientSpan(
  { head, outcome }: Arrival,
  trace: Trace,
  { route, sentTo, sentAt, now }: TracedCall,
): Span {
  const { upstream = '', status, code, destination, answeredAt } = outcome
  // If the gateway sent a problem instead, the status is not the upstream's.
  const upstreamStatus = code === undefined ? status : undefined
  const isError = code !== undefined || (upstreamStatus !== undefined && upstreamStatus >= 400)
  const path = destination ? upstreamTarget(route, { ...destination.target, query: '' }) : '/'
  const socket = /^unix:(.*)/.exec(sentTo.name)?.[1]
  return {
    traceId: trace.traceId,
    spanId: trace.upstreamSpanId,
    parentSpanId: trace.spanId,
    kind: 'client',
    startMs: sentAt,
    endMs: answeredAt ?? now,
    name: `${spanMethod(head.method)} ${upstream}`,
    isError,
    attributes: {
      ...methodAttributes(head.method),
      'http.response.status_code': upstreamStatus,
      'url.full': sentTo.origin + sentTo.basePath + pathForLog(path),
      ...(socket === undefined ? addressAttributes(sentTo.origin) : { 'server.address': socket }),
      'network.protocol.version': route.upstream?.config.protocol === 'http2' ? '2' : '1.1',
      'error.type': code ?? (isError ? String(upstreamStatus) : undefined),
      'gatehouse.upstream': upstream,
    },
  }
}

function spanMethod(method: string): string {
  return registeredMethods.has(method) ? method : otherMethod
}

function methodAttributes(method: string): Span['attributes'] {
  const name = spanMethod(method)
  return {
    'http.request.method': name,
    // Anybody may invent a method, as long as a head may be.
    'http.request.method_original': name === otherMethod ? methodForLog(method).slice(0, 32) : undefined,
  }
}

const defaultPorts: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 }

/** Nothing where the host is missing or malformed: such requests are refused. */
function addressAttributes(origin: string): Span['attributes'] {
  const url = URL.parse(origin)
  if (!url?.hostname) return {}
  return {
    'server.address': withoutBrackets(url.hostname),
    'server.port': url.port === '' ? defaultPorts[url.protocol] : Number(url.port),
  }
}
