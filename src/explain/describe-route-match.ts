import type { RequestTarget } from '../routes/request-target.ts'
import type { Route } from '../routes/route.ts'
import { createRouteTable, type RouteTable } from '../routes/table.ts'
import type { UpstreamConfig } from '../upstream/upstream.ts'

type Table = RouteTable<UpstreamConfig>

/** The parts of a request that routes match on. */
export interface RouteQuery {
  readonly host: string
  readonly target: RequestTarget
  readonly method: string
}

const namedMax = 3

/** Why a route matched, and which routes it takes precedence over. */
export function describeRouteMatch(route: Route<UpstreamConfig>, table: Table, query: RouteQuery): string {
  const host = route.host === undefined ? 'any host' : `host ${route.host}`
  const methods = route.methods === undefined ? 'any method' : [...route.methods].join(' ')
  const others = runnersUp(route, table, query).map(({ name, prefix }) => `"${name}" (${prefix || '/'})`)
  const before = others.length === 0 ? '' : `; takes precedence over ${others.join(', ')}`
  return `"${route.name}": ${host}, prefix ${route.prefix || '/'}, ${methods}${before}`
}

/** The routes that would match the request without those that take precedence. */
function runnersUp(
  winner: Route<UpstreamConfig>,
  table: Table,
  query: RouteQuery,
): readonly Route<UpstreamConfig>[] {
  const found = [winner]
  while (found.length <= namedMax) {
    const rest = createRouteTable(table.routes.filter((route) => !found.includes(route)))
    const next = rest.match(query.host, query.target, query.method)
    if (next.kind !== 'route') break
    found.push(next.route)
  }
  return found.slice(1)
}
