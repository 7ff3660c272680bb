import { isToken } from '#http/h1/characters.ts'
import { dateLine } from '#http/h1/response-writer.ts'
import { onlyValueOf, type RequestHead } from '#http/request-head.ts'
import { GatehouseError, sharedError } from '#platform/errors/gatehouse-error.ts'
import type { Arrival, GatedArrival } from '../arrival/arrival.ts'
import { type CorsHeaders, createCorsHeaders, everyOrigin } from '../arrival/cors-headers.ts'
import {
  type Destination,
  ownRouteName,
  recordCorsHeaders,
  recordDestination,
  recordRouteName,
  recordStatus,
  unmatchedRouteName,
} from '../arrival/outcome.ts'
import { forwardedHostError, hasNameLengths, parseHostName, withoutPort } from '../routes/hosts.ts'
import type { OwnPaths } from '../routes/own-paths.ts'
import { mergedPath, pathFaults, requireTarget } from '../routes/request-target.ts'
import { standardMethods } from '../routes/route.ts'
import { matchError, type RouteTable } from '../routes/table.ts'
import type { StepListener } from './gate.ts'

/**
 * Who handles a request: the server itself (`OPTIONS *`, or a preflight), the gateway's own endpoints, or the routes.
 */
export type Scope = 'server' | Preflight | 'own' | 'routes'

export interface ScopeOptions {
  /** undefined = CORS is left to the upstreams. */
  readonly cors: Cors | undefined
  readonly ownPaths: Pick<OwnPaths, 'has' | 'isOwnHost' | 'portalScopes'>
}

/**
 * Reads the destination of a request, and chooses its handler.
 * @throws GatehouseError `method-not-allowed`, `path-ambiguous`, `request-invalid`, `route-not-found`,
 *   `service-worker-refused`
 */
export function chooseScope(
  arrival: GatedArrival,
  { cors, ownPaths }: ScopeOptions,
  steps?: StepListener,
): Scope {
  const { head, fields, outcome } = arrival
  // CONNECT need not name a path, and is never accepted.
  if (head.method === 'CONNECT' && !head.target.startsWith('/'))
    throw new GatehouseError('method-not-allowed', { allow: [] })
  // First, as a cross-origin page must be able to read the problem if anything below fails.
  if (cors) recordCorsHeaders(outcome, cors.headersFor(head.rawHeaders))
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

/**
 * Answers an OPTIONS request as its final recipient. No authentication is needed for the gateway as a whole, as the
 * response says nothing that the public docs do not.
 * @param methods those that its target allows
 */
export function answerOptions(arrival: Arrival, methods: Iterable<string>): void {
  const allow = `Allow: ${[...methods].toSorted().join(', ')}\r\n`
  answerNoContent(arrival, allow + (arrival.outcome.corsHeaders?.lines ?? ''))
}

/** @param lines field lines */
export function answerNoContent({ connection, outcome, requestId }: Arrival, lines: string): void {
  recordStatus(outcome, 204)
  connection.respond(204, 'No Content', `${lines}X-Request-Id: ${requestId}\r\n${dateLine()}`, 'none')
  connection.end()
}

/** The response to a preflight, which carries no credentials: nobody is authenticated. */
export interface Preflight {
  /** Name of the matched route, `_gateway` or `_unmatched`. */
  readonly route: string
  /** Methods that the page may then use. */
  readonly methods: readonly string[]
  /** Field lines of the response, each ended by CR LF. */
  readonly lines: string
}

/** CORS (https://fetch.spec.whatwg.org/#http-cors-protocol) for the origins of the config. */
export interface Cors {
  /** The CORS headers of any response to this request. */
  headersFor(rawHeaders: readonly string[]): CorsHeaders
  /**
   * The response to a preflight from an allowed origin; undefined = the request is not a preflight.
   * @throws GatehouseError where no route has the path
   */
  preflight(
    request: Pick<RequestHead, 'method' | 'rawHeaders'>,
    destination: Destination,
    corsHeaders: CorsHeaders,
  ): Preflight | undefined
  /** Whether CORS applies to a path: not to the portal, whose pages only its own scripts may read. */
  appliesTo(path: string, hostName: string): boolean
}

interface CorsOptions {
  /** Origins as browsers send them. */
  readonly origins: readonly string[]
  /** Whether pages of every origin may call, without cookies. */
  readonly allowsAny: boolean
  readonly table: Pick<RouteTable<unknown>, 'match'>
  readonly ownPaths: OwnPaths
}

/** How long a browser may cache the response, in seconds, and so may miss a change of the config. */
const maxAgeS = 600
const fieldNameList = /^[A-Za-z0-9!#$%&'*+.^_`|~, \t-]*$/

/** @returns undefined where no origin is allowed: then CORS is off, and the upstreams' CORS fields are forwarded */
export function createCors({ origins, allowsAny, table, ownPaths }: CorsOptions): Cors | undefined {
  if (origins.length === 0 && !allowsAny) return undefined
  const byOrigin = new Map(origins.map((origin) => [origin, createCorsHeaders(origin)]))
  const others = createCorsHeaders(allowsAny ? everyOrigin : undefined)

  function appliesTo(path: string, hostName: string): boolean {
    if (ownPaths.isOwnHost(hostName)) return false
    return !ownPaths.has(path, hostName) || ownPaths.methodsOf(path) !== undefined
  }

  function allowedAt({ target, hostName }: Destination, method: string): Omit<Preflight, 'lines'> {
    const own = ownPaths.methodsOf(target.path)
    if (own) return { route: ownRouteName, methods: own }
    const match = table.match(hostName, target, method)
    switch (match.kind) {
      case 'route': {
        const { name, methods = new Set([...standardMethods, method]) } = match.route
        return { route: name, methods: [...methods] }
      }
      case 'method':
        return { route: match.onlyRoute?.name ?? unmatchedRouteName, methods: match.allowed }
      default:
        throw matchError(match)
    }
  }

  return {
    appliesTo,
    headersFor: (rawHeaders) => byOrigin.get(onlyValueOf(rawHeaders, 'origin') ?? '') ?? others,
    preflight: ({ method, rawHeaders }, destination, { origin }) => {
      if (
        method !== 'OPTIONS' ||
        origin === undefined ||
        onlyValueOf(rawHeaders, 'origin') === undefined ||
        !appliesTo(destination.target.path, destination.hostName)
      )
        return undefined
      const requestedMethod = onlyValueOf(rawHeaders, 'access-control-request-method')
      if (requestedMethod === undefined || !isToken(requestedMethod)) return undefined
      const allowed = allowedAt(destination, requestedMethod)
      return { ...allowed, lines: preflightLines(origin, allowed.methods, requestedFieldNames(rawHeaders)) }
    },
  }
}

function preflightLines(origin: string, methods: readonly string[], names: string): string {
  const lines = [
    `Access-Control-Allow-Origin: ${origin}`,
    ...(origin === everyOrigin ? [] : ['Access-Control-Allow-Credentials: true']),
    `Access-Control-Allow-Methods: ${methods.join(', ')}`,
    ...(names === '' ? [] : [`Access-Control-Allow-Headers: ${names}`]),
    `Access-Control-Max-Age: ${maxAgeS}`,
    ...(origin === everyOrigin ? [] : ['Vary: Origin']),
  ]
  return lines.map((line) => `${line}\r\n`).join('')
}

/** All requested names are allowed, including SecretKey and Authorization: the request itself is checked as usual. */
function requestedFieldNames(rawHeaders: readonly string[]): string {
  const names = onlyValueOf(rawHeaders, 'access-control-request-headers') ?? ''
  return fieldNameList.test(names) ? names : ''
}
