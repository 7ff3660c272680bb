import { GatehouseError, sharedError } from '../errors/gatehouse-error.ts'
import type { Route } from '../routes/route.ts'
import type { RouteTable } from '../routes/table.ts'
import type { Arrival, Destination } from './arrival.ts'
import type { GateResult } from './gate.ts'

/** Finds the route of a request in a table, or what it is refused with; its log line names the route that is meant. */
export function findRoute<Upstream>(
  table: RouteTable<Upstream>,
  { head, outcome }: Arrival,
  { hostName, target }: Destination,
): GateResult<Route<Upstream>> {
  const match = table.match(hostName, target, head.method)
  switch (match.kind) {
    case 'route':
      return match.route
    case 'none':
      return sharedError('route-not-found')
    case 'ambiguous':
      outcome.reason = match.reason
      return sharedError('path-ambiguous')
    case 'method':
      outcome.route = match.onlyRoute?.name ?? outcome.route
      return new GatehouseError('method-not-allowed', { allow: match.allowed })
    default:
      return match satisfies never
  }
}
