import { isToken } from '#http/h1/head-bytes.ts'
import { onlyValueOf, type RequestHead } from '#http/request-head.ts'
import { type CorsHeaders, createCorsHeaders, everyOrigin } from '../arrival/cors-headers.ts'
import { type Destination, ownRouteName, unmatchedRouteName } from '../arrival/outcome.ts'
import type { OwnPaths } from '../routes/own-paths.ts'
import { standardMethods } from '../routes/route.ts'
import { matchError, type RouteTable } from '../routes/table.ts'

type CorsRequest = Pick<RequestHead, 'method' | 'rawHeaders'>

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
  preflight(request: CorsRequest, destination: Destination, corsHeaders: CorsHeaders): Preflight | undefined
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
