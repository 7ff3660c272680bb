import { isExtendedConnect } from '#http/client-exchange.ts'
import { changedHead, type RequestHead } from '#http/request-head.ts'
import type { Tracer } from '#ops/tracing/tracer.ts'
import { GatehouseError, sharedError } from '#platform/errors/gatehouse-error.ts'
import type { Log } from '#platform/log/log.ts'
import type { MonotonicClock } from '#platform/time.ts'
import type { Arrival, GatedArrival } from '../arrival/arrival.ts'
import {
  destinationOf,
  principalOf,
  recordReason,
  recordRouteName,
  recordUpstream,
} from '../arrival/outcome.ts'
import { isLastOnConnection } from '../forward/connection-lines.ts'
import { readMaxForwards, withMaxForwards } from '../forward/max-forwards.ts'
import { readStrippedPrefix } from '../forward/stripped-prefix.ts'
import type { HeadUpstream, RequestHeadInput } from '../forward/upstream-head.ts'
import type { Route } from '../routes/route.ts'
import { matchError, type RouteTable } from '../routes/table.ts'
import type { GateResult, StepListener } from './gate-result.ts'

/** Finds the route of a request, or the error that it is refused with; the log line names the intended route. */
export function findRoute<Upstream>(
  table: RouteTable<Upstream>,
  { head, outcome }: GatedArrival,
): GateResult<Route<Upstream>> {
  const { hostName, target } = destinationOf(outcome)
  const match = table.match(hostName, target, head.method)
  switch (match.kind) {
    case 'route':
      if (!match.route.isDenied) return match.route
      recordRouteName(outcome, match.route.name)
      return sharedError('route-denied')
    case 'method':
      if (match.onlyRoute) recordRouteName(outcome, match.onlyRoute.name)
      return new GatehouseError('method-not-allowed', { allow: match.allowed })
    default:
      if (match.kind === 'ambiguous') recordReason(outcome, match.reason)
      return matchError(match)
  }
}

/** Finds a route on the main listener, which forwards, and so ignores routes without an upstream. */
export function findForwardingRoute<Upstream extends object>(
  table: RouteTable<Upstream | undefined>,
  arrival: GatedArrival,
): GateResult<Route<Upstream>> {
  const route = findRoute(table, arrival)
  if (route instanceof GatehouseError || hasUpstream(route)) return route
  recordReason(arrival.outcome, `route "${route.name}" has no upstream: only other proxies use it`)
  return sharedError('route-not-found')
}

export function hasUpstream<Upstream extends object>(
  route: Route<Upstream | undefined>,
): route is Route<Upstream> {
  return route.upstream !== undefined
}

export interface UpstreamHeadOptions {
  /** undefined = traceparent is forwarded unchanged. */
  readonly tracer: Tracer | undefined
  /** undefined in the gateway. */
  readonly steps?: StepListener | undefined
}

/**
 * Reads what the upstream head is written from, once a request has passed the gate; undefined = the gateway is the
 * final recipient, and does not forward it.
 * @throws GatehouseError `body-too-large`, `request-invalid`
 */
type ReadUpstreamHead = (route: Route<HeadUpstream>, arrival: GatedArrival) => RequestHeadInput | undefined

export function createUpstreamHeadReader({ tracer, steps }: UpstreamHeadOptions): ReadUpstreamHead {
  return function readUpstreamHead(route, { head, outcome, fields, client, requestId }) {
    const { body, minorVersion } = head
    if (body.kind === 'counted' && body.length > route.bodyBytesMax)
      throw new GatehouseError('body-too-large')
    steps?.passed('limits')
    const maxForwards = readMaxForwards(head)
    if (maxForwards === 0) return undefined
    const spans = tracer?.startTrace(head.rawHeaders)
    recordUpstream(outcome, route.upstream.name, spans)
    const tracedHeaders = spans?.rawHeaders ?? head.rawHeaders
    const rawHeaders = maxForwards === undefined ? tracedHeaders : withMaxForwards(tracedHeaders, maxForwards)
    return {
      rawHeaders,
      traceparent: spans?.traceparent,
      route,
      principal: principalOf(outcome),
      client,
      requestId,
      body,
      strippedPrefix: readStrippedPrefix(route, head.rawHeaders, client.isTrusted),
      connectionOptions: fields.uncommon.connectionOptions,
      isUpgrade: route.websocket && isWebSocketUpgrade(head),
      isLast: isLastOnConnection(head, route),
      minorVersion,
    }
  }
}

/** Checks whether the route accepts an upgrade, and how it is forwarded otherwise. */
export function checkUpgrade<Upstream extends object>(
  table: RouteTable<Upstream | undefined>,
  route: Route<Upstream>,
  arrival: Arrival,
): GateResult<Route<Upstream>> {
  const { connection, head, outcome } = arrival
  if (route.websocket) {
    // Before the decision, as the bytes after a refused upgrade are not a request.
    if (isWebSocketUpgrade(head)) connection.closeAfterAnswer()
    return route
  }
  if (!isExtendedConnect(connection, head)) return route
  // A backend might answer it with 2xx like an ordinary request, so it is refused like any other CONNECT.
  recordReason(outcome, 'a WebSocket over HTTP/2: the route lacks websocket: true')
  return findForwardingRoute(table, { ...arrival, head: changedHead(head, { method: 'CONNECT' }) })
}

/** RFC 6455 4.1; anything else in Upgrade is ignored. */
export function isWebSocketUpgrade({ method, upgrade, body }: RequestHead): boolean {
  return upgrade === 'websocket' && method === 'GET' && body.kind === 'none'
}

/** How long a route's message is not repeated: WebSocket clients retry again and again. */
const intervalMs = 60_000

/**
 * Creates the function that logs a WebSocket upgrade on a route without `websocket`, which is forwarded as an ordinary
 * request: its client only sees it fail. Once a minute for each route.
 */
export function createIgnoredUpgradeLog(
  log: Pick<Log, 'warn'>,
  monotonic: MonotonicClock,
): (route: string) => void {
  const loggedAt = new Map<string, number>()
  return function logIgnoredUpgrade(route) {
    const now = monotonic()
    if (now - (loggedAt.get(route) ?? Number.NEGATIVE_INFINITY) < intervalMs) return
    loggedAt.set(route, now)
    log.warn({ route }, 'WebSocket upgrade forwarded as an ordinary request: the route lacks websocket: true')
  }
}
