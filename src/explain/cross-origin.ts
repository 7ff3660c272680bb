import type { Config } from '../config/config.ts'
import { createCors } from '../http/cors.ts'
import type { OwnPaths } from '../http/own-paths.ts'
import type { RouteTable } from '../routes/table.ts'
import type { Arrived } from './arrive.ts'
import type { Trail } from './trail.ts'

interface Around {
  readonly config: Config
  readonly table: RouteTable<unknown>
  readonly ownPaths: OwnPaths
  readonly trail: Trail
}

/**
 * Whether the request is a preflight that the gateway answers; for others it notes which page may read the answer.
 * @throws GatehouseError where no route has the path
 */
export function isPreflight(
  { head, target, hostName }: Arrived,
  { config, table, ownPaths, trail }: Around,
): boolean {
  const cors = createCors({ origins: config.cors.origins, table, ownPaths })
  const sent = head.rawHeaders.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === 'origin')
  if (!cors || sent === -1) return false
  trail.begin('cors')
  const crossOrigin = cors.of(head.rawHeaders)
  const { origin } = crossOrigin
  const preflight = cors.preflight(head, { target, hostName }, crossOrigin)
  if (preflight) {
    trail.enter(preflight.route)
    const { methods } = preflight
    const detail = `a preflight of ${origin}, answered before anybody is authenticated; methods: ${methods.join(', ')}`
    trail.pass('cors', { detail, facts: { origin, methods, isPreflight: true } })
    return true
  }
  const isReadable = origin !== undefined && cors.isOpen(target.path)
  const detail = isReadable
    ? `pages of ${origin} may read the answer`
    : origin === undefined
      ? 'its origin is not in cors.origins: a browser keeps the answer from the page'
      : 'the portal is for no other origin: a browser keeps the answer from the page'
  trail.pass('cors', { detail, facts: { origin: isReadable ? origin : null, isPreflight: false } })
  return false
}
