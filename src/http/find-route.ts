import { GatehouseError, sharedError } from '../errors/gatehouse-error.ts'
import type { Route } from '../routes/route.ts'
import type { RouteTable } from '../routes/table.ts'
import type { Arrival } from './arrival.ts'
import type { GateResult } from './gate.ts'
import { destinationOf, recordReason, recordRouteName } from './outcome.ts'

/** Finds the route of a request, or the error it is refused with; the log line names the intended route. */
export function findRoute<Upstream>(
  table: RouteTable<Upstream>,
  { head, outcome }: Arrival,
): GateResult<Route<Upstream>> {
  const { hostName, target } = destinationOf(outcome)
  const match = table.match(hostName, target, head.method)
  switch (match.kind) {
    case 'route':
      return match.route
    case 'none':
      return sharedError('route-not-found')
    case 'ambiguous':
      recordReason(outcome, match.reason)
      return sharedError('path-ambiguous')
    case 'method':
      if (match.onlyRoute) recordRouteName(outcome, match.onlyRoute.name)
      return new GatehouseError('method-not-allowed', { allow: match.allowed })
    default:
      return match satisfies never
  }
}
