import { compileRoutes } from '../../routes/compile.ts'
import { createRouteTable } from '../../routes/table.ts'
import type { Config } from '../config.ts'
import type { Warning } from './warning.ts'

/** Routes whose paths a backend may read as the same: the gateway would refuse every request to them. */
export function findAmbiguousPaths({ routes, upstreams }: Pick<Config, 'routes' | 'upstreams'>): Warning[] {
  const compiled = compileRoutes(routes, new Map(upstreams.map((upstream) => [upstream.name, upstream])))
  const { groups, ambiguityIndex } = createRouteTable(compiled)
  const indexOf = new Map(compiled.map((route, index) => [route, index]))
  return groups.flatMap((place) => {
    const [other] = ambiguityIndex.findEquivalents(place)
    if (other === undefined) return []
    return place.routes.map((route) => ({
      path: ['routes', indexOf.get(route) ?? 0, 'path'],
      message: `route "${route.name}" is never used: a backend that folds case or decodes escapes reads ${place.prefix} and ${other.prefix} of "${other.routes[0]?.name}" as the same, so requests to them are refused. Give them one path, or caseSensitive: true if only case differs and the backend tells it`,
    }))
  })
}
