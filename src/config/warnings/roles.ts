import { knownRoles, similarRole } from '../../accounts/roles.ts'
import type { ConfigTree } from '../schema/schema.ts'
import type { Warning } from './warning.ts'

/** Roles of routes that differ from another role only in case: `admin` beside the gateway's own `Admin`. */
export function findSimilarRoles({ routes }: Pick<ConfigTree, 'routes'>): Warning[] {
  const known = knownRoles(routes)
  const ownRoles = knownRoles([])
  return [...routes.entries()].flatMap(([route, { name, roles = [] }]) =>
    [...roles.entries()].flatMap(([index, role]): Warning[] => {
      if (ownRoles.includes(role)) return []
      const others = known.filter((other) => other !== role)
      const similar = similarRole(role, others)
      if (similar === undefined) return []
      const message = `route "${name}" has the role "${role}", which is not "${similar}": roles are case-sensitive`
      return [{ path: ['routes', route, 'roles', index], message }]
    }),
  )
}
