import { GatehouseError, sharedError } from '#platform/errors/gatehouse-error.ts'
import type { GatedArrival } from '../arrival/arrival.ts'
import { destinationOf, recordReason, recordRouteName } from '../arrival/outcome.ts'
import type { Route } from '../routes/route.ts'
import { matchError, type RouteTable } from '../routes/table.ts'
import type { GateResult } from './gate-result.ts'

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
