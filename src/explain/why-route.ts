import type { Route } from '../routes/route.ts'
import { createRouteTable, type RouteTable } from '../routes/table.ts'
import type { Target } from '../routes/target.ts'
import type { UpstreamTerms } from '../upstream/upstream.ts'

type Table = RouteTable<UpstreamTerms>

/** The parts of a request that a route is chosen by. */
export interface Place {
  readonly host: string
  readonly target: Target
  readonly method: string
}

const namedMax = 3

/** Why a route was chosen, and which ones it comes before. */
export function whyRoute(route: Route<UpstreamTerms>, table: Table, place: Place): string {
  const host = route.host === undefined ? 'any host' : `host ${route.host}`
  const methods = route.methods === undefined ? 'any method' : [...route.methods].join(' ')
  const others = runnersUp(route, table, place).map(({ name, prefix }) => `"${name}" (${prefix || '/'})`)
  const before = others.length === 0 ? '' : `; comes before ${others.join(', ')}`
  return `"${route.name}": ${host}, prefix ${route.prefix || '/'}, ${methods}${before}`
}

/** The routes that would get the request without those that win over them. */
function runnersUp(
  winner: Route<UpstreamTerms>,
  table: Table,
  place: Place,
): readonly Route<UpstreamTerms>[] {
  const found = [winner]
  while (found.length <= namedMax) {
    const rest = createRouteTable(table.routes.filter((route) => !found.includes(route)))
    const next = rest.match(place.host, place.target, place.method)
    if (next.kind !== 'route') break
    found.push(next.route)
  }
  return found.slice(1)
}
