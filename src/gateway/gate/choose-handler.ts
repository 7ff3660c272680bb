import { onlyValueOf, type RequestHead } from '#http/request-head.ts'
import { GatehouseError, sharedError } from '#platform/errors/gatehouse-error.ts'
import type { GatedArrival } from '../arrival/arrival.ts'
import type { Cors, Preflight } from '../arrival/cors.ts'
import { recordCorsHeaders, recordDestination, recordRouteName } from '../arrival/outcome.ts'
import { forwardedHostError, hasNameLengths, parseHostName, withoutPort } from '../routes/hosts.ts'
import type { OwnPaths } from '../routes/own-paths.ts'
import { mergedPath, pathFaults, requireTarget } from '../routes/request-target.ts'
import { ownRouteName } from '../routes/route.ts'
import type { StepListener } from './gate-result.ts'

/**
 * Who handles a request: the server itself (`OPTIONS *`, or a preflight), the gateway's own endpoints, or the routes.
 */
export type HandledBy = 'server' | Preflight | 'own' | 'routes'

export interface ChooseHandlerOptions {
  /** undefined = CORS is left to the upstreams. */
  readonly cors: Cors | undefined
  readonly ownPaths: Pick<OwnPaths, 'has' | 'isOwnHost' | 'portalScopes'>
}

/**
 * Reads the destination of a request, and chooses its handler.
 * @throws GatehouseError `method-not-allowed`, `path-ambiguous`, `request-invalid`, `route-not-found`,
 *   `service-worker-refused`
 */
export function chooseHandler(
  arrival: GatedArrival,
  { cors, ownPaths }: ChooseHandlerOptions,
  steps?: StepListener,
): HandledBy {
  const { head, fields, outcome } = arrival
  // CONNECT need not name a path, and is never accepted.
  if (head.method === 'CONNECT' && !head.target.startsWith('/'))
    throw new GatehouseError('method-not-allowed', { allow: [] })
  // First, as a cross-origin page must be able to read the problem if anything below fails.
  if (cors) recordCorsHeaders(outcome, cors.headersFor(onlyValueOf(head.rawHeaders, 'origin')))
  if (arrival.client.host === '') {
    parseHostName(fields)
    throw forwardedHostError()
  }
  if (isServerWideOptions(head)) {
    parseHostName(fields)
    recordRouteName(outcome, ownRouteName)
    steps?.passed('request')
    return 'server'
  }
  const destination = { target: requireTarget(head.target), hostName: parseHostName(fields) }
  recordDestination(outcome, destination)
  steps?.passed('request')
  const { path } = destination.target
  const { hostName } = destination
  const preflight = outcome.corsHeaders && cors?.preflight(head, destination, outcome.corsHeaders)
  if (preflight) {
    recordRouteName(outcome, preflight.route)
    return preflight
  }
  steps?.passed('cors')
  if (cors && !cors.appliesTo(path, hostName)) recordCorsHeaders(outcome, undefined)
  // A service worker on the portal's origin could read and forge all of its pages, whichever backend serves the script.
  if (fields.uncommon.isWorkerScript && ownPaths.portalScopes?.isReachedFrom(path))
    throw new GatehouseError('service-worker-refused')
  const isOwn = ownPaths.has(path, hostName)
  if (destination.target.hasEmptySegment && (isOwn || ownPaths.has(mergedPath(destination.target), hostName)))
    throw sharedError('path-ambiguous', pathFaults.emptySegment)
  if (isOwn) return 'own'
  // No backend may answer on the portal's own host, or it would share the portal's origin.
  if (ownPaths.isOwnHost(hostName)) throw new GatehouseError('route-not-found')
  return 'routes'
}

const absoluteFormWithoutPath = /^https?:\/\/([^/?#]*)$/i

/**
 * Whether a request is about the gateway as a whole, not a path: `OPTIONS *` (RFC 9110 9.3.7), or the absolute form
 * without a path, which means the same (RFC 9112 3.2.4).
 */
function isServerWideOptions({ method, target }: Pick<RequestHead, 'method' | 'target'>): boolean {
  if (method !== 'OPTIONS') return false
  const authority = absoluteFormWithoutPath.exec(target)?.[1]
  return target === '*' || (authority !== undefined && hasNameLengths(withoutPort(authority)))
}
