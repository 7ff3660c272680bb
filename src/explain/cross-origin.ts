import type { Config } from '../config/config.ts'
import { createCors } from '../http/cors.ts'
import type { OwnPaths } from '../routes/own-paths.ts'
import type { RouteTable } from '../routes/table.ts'
import type { DecisionTrace } from './decision-trace.ts'
import type { ExplainedArrival } from './read-arrival.ts'

interface CorsContext {
  readonly config: Config
  readonly table: RouteTable<unknown>
  readonly ownPaths: OwnPaths
  readonly trace: DecisionTrace
}

/**
 * Whether the request is a preflight that the gateway answers; for others it records which page may read the response.
 * @throws GatehouseError if no route has the path
 */
export function isAnsweredPreflight(
  { head, target, hostName }: ExplainedArrival,
  { config, table, ownPaths, trace }: CorsContext,
): boolean {
  const cors = createCors({ origins: config.cors.origins, table, ownPaths })
  const originIndex = head.rawHeaders.findIndex(
    (name, index) => index % 2 === 0 && name.toLowerCase() === 'origin',
  )
  if (!cors || originIndex === -1) return false
  trace.beginStep('cors')
  const crossOrigin = cors.headersFor(head.rawHeaders)
  const { origin } = crossOrigin
  const preflight = cors.preflight(head, { target, hostName }, crossOrigin)
  if (preflight) {
    trace.setRoute(preflight.route)
    const { methods } = preflight
    const detail = `a preflight from ${origin}, answered before authentication; methods: ${methods.join(', ')}`
    trace.passStep('cors', { detail, facts: { origin, methods, isPreflight: true } })
    return true
  }
  const isReadable = origin !== undefined && cors.appliesTo(target.path)
  const detail = isReadable
    ? `pages from ${origin} may read the response`
    : origin === undefined
      ? 'its origin is not in cors.origins: browsers block the response (CORS)'
      : 'the portal allows no other origin: browsers block the response (CORS)'
  trace.passStep('cors', { detail, facts: { origin: isReadable ? origin : null, isPreflight: false } })
  return false
}
