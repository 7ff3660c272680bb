import { compileRoutes } from '../../routes/compile.ts'
import { createRouteTable } from '../../routes/table.ts'
import type { Config } from '../config.ts'
import type { Warning } from './warning.ts'

/** Routes whose paths a backend may treat as the same: the gateway would reject every request to them. */
export function findAmbiguousPaths({ routes, upstreams }: Pick<Config, 'routes' | 'upstreams'>): Warning[] {
  const compiled = compileRoutes(routes, new Map(upstreams.map((upstream) => [upstream.name, upstream])))
  const { groups, ambiguityIndex } = createRouteTable(compiled)
  const indexOf = new Map(compiled.map((route, index) => [route, index]))
  return groups.flatMap((place) => {
    const [other] = ambiguityIndex.findEquivalents(place)
    if (other === undefined) return []
    return place.routes.map((route) => ({
      path: ['routes', indexOf.get(route) ?? 0, 'path'],
      message: `route "${route.name}" is never used: its path ${place.prefix} and ${other.prefix} of route "${other.routes[0]?.name}" are ambiguous to a backend that ignores case or decodes escapes, so requests to them are rejected. Use one path, or set caseSensitive: true if only case differs and the backend is case-sensitive`,
    }))
  })
}
