import { isExtendedConnect } from '#http/client-exchange.ts'
import { changedHead, type RequestHead } from '#http/request-head.ts'
import type { Log } from '#platform/log/log.ts'
import type { MonotonicClock, MonotonicMs } from '#platform/time.ts'
import type { Arrival } from '../arrival/arrival.ts'
import { recordReason } from '../arrival/outcome.ts'
import type { Route } from '../routes/route.ts'
import type { RouteTable } from '../routes/table.ts'
import type { GateResult } from './gate-result.ts'
import { findForwardingRoute } from './route-request.ts'

/** Checks whether the route accepts the upgrade of a request. @returns the route that the request is forwarded by */
export function checkUpgrade<Upstream extends object>(
  table: RouteTable<Upstream | undefined>,
  route: Route<Upstream>,
  arrival: Arrival,
): GateResult<Route<Upstream>> {
  const { exchange, head, outcome } = arrival
  if (route.websocket) {
    // Before the decision, as the bytes after a refused upgrade are not a request.
    if (isWebSocketUpgrade(head)) exchange.closeAfterAnswer()
    return route
  }
  if (!isExtendedConnect(exchange, head)) return route
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
  const loggedAt = new Map<string, MonotonicMs>()
  return function logIgnoredUpgrade(route) {
    const now = monotonic()
    if (now - (loggedAt.get(route) ?? Number.NEGATIVE_INFINITY) < intervalMs) return
    loggedAt.set(route, now)
    log.warn({ route }, 'WebSocket upgrade forwarded as an ordinary request: the route lacks websocket: true')
  }
}
