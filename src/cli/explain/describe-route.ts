import { destinationOf } from '#gateway/arrival/outcome.ts'
import type { Route } from '#gateway/routes/route.ts'
import { createRouteTable, type RouteTable } from '#gateway/routes/table.ts'
import type { UpstreamConfig } from '#http/upstream/upstream-config.ts'
import type { StepResult } from './explanation.ts'
import type { ExplainedArrival } from './read-arrival.ts'

export type FoundRoute = Route<UpstreamConfig | undefined>

/** Why a route matched, and which routes it takes precedence over. */
export function describeRoute(
  route: FoundRoute,
  table: RouteTable<UpstreamConfig | undefined>,
  arrival: ExplainedArrival,
): StepResult {
  const path = route.prefix || '/'
  const host = route.host === undefined ? 'any host' : `host ${route.host}`
  const methods = route.methods && [...route.methods]
  const others = runnersUp(route, table, arrival).map(({ name, prefix }) => `"${name}" (${prefix || '/'})`)
  const before = others.length === 0 ? '' : `; takes precedence over ${others.join(', ')}`
  return {
    detail: `"${route.name}": ${host}, prefix ${path}, ${methods?.join(' ') ?? 'any method'}${before}`,
    facts: { name: route.name, host: route.host, path, methods },
  }
}

const namedMax = 3

/** The routes that would match the request without those that take precedence. */
function runnersUp(
  winner: FoundRoute,
  table: RouteTable<UpstreamConfig | undefined>,
  { head: { method }, outcome }: ExplainedArrival,
): readonly FoundRoute[] {
  const { hostName, target } = destinationOf(outcome)
  const found = [winner]
  while (found.length <= namedMax) {
    const rest = createRouteTable(table.routes.filter((route) => !found.includes(route)))
    const next = rest.match(hostName, target, method)
    if (next.kind !== 'route') break
    found.push(next.route)
  }
  return found.slice(1)
}
