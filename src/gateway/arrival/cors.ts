import { isToken } from '#http/message/characters.ts'
import { fieldsIn, onlyValueOf, type RequestHead, withoutFields } from '#http/request-head.ts'
import type { OwnPaths } from '../routes/own-paths.ts'
import { ownRouteName, standardMethods, unmatchedRouteName } from '../routes/route.ts'
import { type Destination, matchError, type RouteTable } from '../routes/table.ts'

/** The CORS headers of the responses to one request (https://fetch.spec.whatwg.org/#http-cors-protocol). */
export interface CorsHeaders {
  /** The origin whose pages may read them; `*` = any, without cookies; undefined = none. */
  readonly origin: string | undefined
  /** Names and values for a response of the gateway itself. */
  readonly fields: readonly (readonly [name: string, value: string])[]
  /** The same fields as field lines. */
  readonly lines: string
  /** Those without Vary. */
  readonly accessLines: string
}

/** The fields of a response that a page may read besides the safelisted ones. */
const exposedHeaders = [
  'X-Request-Id',
  'Retry-After',
  'WWW-Authenticate',
  'DPoP-Nonce',
  'RateLimit',
  'RateLimit-Policy',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
]

/** Stands for every origin: what its pages send never has cookies, and responses are the same for all. */
export const everyOrigin = '*'

/** @param origin an allowed origin, or `*`; undefined = no page may read the response */
export function createCorsHeaders(origin: string | undefined): CorsHeaders {
  const access = corsFields(origin, exposedHeaders)
  const fields = origin === everyOrigin ? access : [...access, ['Vary', 'Origin'] as const]
  return { origin, fields, lines: linesOf(fields), accessLines: linesOf(access) }
}

function linesOf(fields: CorsHeaders['fields']): string {
  return fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')
}

function corsFields(origin: string | undefined, names: readonly string[]) {
  if (origin === undefined) return []
  const credentials = origin === everyOrigin ? [] : [['Access-Control-Allow-Credentials', 'true'] as const]
  return [
    ['Access-Control-Allow-Origin', origin] as const,
    ...credentials,
    ['Access-Control-Expose-Headers', names.join(', ')] as const,
  ]
}

/** Only the gateway's CORS fields reach the client, and only with the final response. */
export function withGatewayCors(
  status: number,
  headers: readonly string[],
  corsHeaders: CorsHeaders,
): readonly string[] {
  return status < 200 ? withoutCorsHeaders(headers) : withCorsHeaders(headers, corsHeaders)
}

/**
 * The header fields of an upstream's response with the gateway's CORS fields in place of the upstream's. Of these only
 * the exposed names are kept: only the upstream knows them.
 * @param headers name, value, name, value, as they arrived
 */
export function withCorsHeaders(headers: readonly string[], { origin }: CorsHeaders): readonly string[] {
  const kept: string[] = []
  const names = new Map(exposedHeaders.map((name) => [name.toLowerCase(), name]))
  let variesByOrigin = false
  for (const [name, value] of fieldsIn(headers)) {
    const lower = name.toLowerCase()
    if (lower === 'access-control-expose-headers') addExposedNames(names, value)
    if (lower.startsWith('access-control-')) continue
    if (lower === 'vary') variesByOrigin ||= /(?:^|,)[ \t]*(?:origin|\*)[ \t]*(?:,|$)/i.test(value)
    kept.push(name, value)
  }
  for (const [name, value] of corsFields(origin, [...names.values()])) kept.push(name, value)
  if (!variesByOrigin && origin !== everyOrigin) kept.push('Vary', 'Origin')
  return kept
}

function addExposedNames(names: Map<string, string>, value: string): void {
  for (const part of value.split(',')) {
    const name = part.trim()
    const lower = name.toLowerCase()
    if (name !== '' && !names.has(lower)) names.set(lower, name)
  }
}

/** The fields of an informational response, without CORS fields. */
export function withoutCorsHeaders(headers: readonly string[]): readonly string[] {
  return withoutFields(headers, (name) => name.startsWith('access-control-'))
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
  /** The CORS headers of any response to a request with this Origin; undefined = it has none, or several. */
  headersFor(origin: string | undefined): CorsHeaders
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
    headersFor: (origin = '') => byOrigin.get(origin) ?? others,
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
