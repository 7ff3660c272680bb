import type { Access, RouteRate } from '#identity/access.ts'
import type { RequestTarget } from './request-target.ts'
import type { ResponseCaching, ResponseHeaders } from './response-fields.ts'

/** Who may call a route, and how often. */
export interface GatedRoute {
  readonly name: string
  /** Its index in its table; undefined = it is in none. */
  readonly index?: number | undefined
  readonly access: Access
  readonly rateLimit: RouteRate | undefined
  /** How browsers, which can set no header, authenticate; absent = they cannot. */
  readonly browser?: BrowserAccess | undefined
}

/** A route that takes the access cookie. */
export interface BrowserAccess {
  /** Whether a page visit without a credential is sent to the portal's sign-in. */
  readonly signIn: boolean
  /** Whether the backend may take the method from a field, so that no method is safe. */
  readonly passesMethodOverride: boolean
}

/** A compiled route: it holds everything that a matching request needs. */
export interface Route<Upstream> extends GatedRoute {
  /** In lower case, or a wildcard (hosts.ts); undefined = any. */
  readonly host: string | undefined
  /** Without a trailing slash; empty for the catch-all route. */
  readonly prefix: string
  /** Number of its segments: how many `rewrite` replaces. */
  readonly depth: number
  /** undefined = any; includes HEAD if it includes GET. */
  readonly methods: ReadonlySet<string> | undefined
  readonly upstream: Upstream
  readonly websocket: boolean
  /**
   * What stands in place of the prefix for the backend, without a trailing slash; undefined = the path is as it was
   * sent.
   */
  readonly rewrite: string | undefined
  /** Whether everybody is refused: then it has no upstream. */
  readonly isDenied: boolean
  /** undefined = clients get the fields of the backend. */
  readonly responseHeaders: ResponseHeaders | undefined
  readonly passesEncodedSlash: boolean
  readonly passesEmptySegments: boolean
  /** Whether its backend treats paths as case-sensitive. */
  readonly isCaseSensitive: boolean
  readonly passesMethodOverride: boolean
  /** Whether trailer fields of requests reach the upstream. */
  readonly passesTrailers: boolean
  readonly forwardsCredentials: boolean
  readonly destination: DestinationForm
  /**
   * What caches are told about its responses; undefined = the route is public, so only the backend's own fields apply.
   */
  readonly caching: ResponseCaching | undefined
  /** The field of responses that says how many units a request used; undefined = none. */
  readonly costHeader: string | undefined
  /** The numbers in the bodies of responses that say it; undefined = none. */
  readonly costField: readonly CostTerm[] | undefined
  /** Whether requests for streams ask for their usage in OpenAI's form. */
  readonly includesUsage: boolean
  /** Whether there is a costHeader or a costField. */
  readonly saysCost: boolean
  /** Whether the quotas of keys and plans count units, not requests. */
  readonly spendsUnits: boolean
  /** Infinity = unlimited. */
  readonly bodyBytesMax: number
  readonly responseTimeoutMs: number
  readonly idleTimeoutMs: number
}

/** A number in the body of a response that adds to its cost. */
export interface CostTerm {
  /** Where it may be, as dotted paths; the last number that is found counts. */
  readonly paths: readonly string[]
  readonly factor: number
}

/**
 * How the backend gets the Destination of WebDAV: with the scheme and host of X-Forwarded-*, without what the route
 * strips (`forwarded`) or with it (`public`), or as the URL of the target itself (`target`).
 */
type DestinationForm = 'forwarded' | 'public' | 'target'

/** The route name of a request that matches no route. */
export const unmatchedRouteName = '_unmatched'
/** The route name of requests that the gateway answers itself. */
export const ownRouteName = '_gateway'

/** The methods announced for a route that allows any: those that RFC 9110 9 defines for resources, and PATCH. */
export const standardMethods: readonly string[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** The target as the upstream gets it: as received, except for the prefix if the route replaces it. */
export function upstreamTarget(
  { rewrite, depth }: Pick<Route<unknown>, 'rewrite' | 'depth'>,
  { sentPath, query }: RequestTarget,
): string {
  if (rewrite === undefined) return sentPath + query
  return (rewrite + dropSegments(sentPath, depth) || '/') + query
}

function dropSegments(path: string, count: number): string {
  let start = 0
  for (let dropped = 0; dropped < count; dropped++) {
    const next = path.indexOf('/', start + 1)
    if (next === -1) return ''
    start = next
  }
  return path.slice(start)
}

export function allowsAnonymous({ access }: Pick<Route<unknown>, 'access'>): boolean {
  return access.kind === 'public' || access.isOptional
}

/** Routes that share a host and a prefix, and differ in the method. */
export interface RouteGroup<Upstream> {
  /** In lower case, or a wildcard (hosts.ts); undefined = any. */
  readonly host: string | undefined
  /** Without a trailing slash. */
  readonly prefix: string
  /** Most specific methods first. */
  readonly routes: readonly Route<Upstream>[]
}

/** Groups routes by host and prefix. */
export function groupRoutes<Upstream>(routes: readonly Route<Upstream>[]): readonly RouteGroup<Upstream>[] {
  const sorted = routes.toSorted((a, b) => generalityOf(a) - generalityOf(b))
  const byHost = Map.groupBy(sorted, ({ host }) => host)
  return [...byHost].flatMap(([host, ofHost]) =>
    [...Map.groupBy(ofHost, ({ prefix }) => prefix)].map(([prefix, members]) => ({
      host,
      prefix,
      routes: members,
    })),
  )
}

/** The route of a group that allows a method. */
export function routeFor<Upstream>(
  { routes }: RouteGroup<Upstream>,
  method: string,
): Route<Upstream> | undefined {
  return routes.find(({ methods }) => methods === undefined || methods.has(method))
}

/**
 * How general a route's methods are. A route that names HEAD comes before one that allows it only because it allows
 * GET, and both before one that allows all methods.
 */
function generalityOf({ methods }: Route<unknown>): number {
  if (methods === undefined) return 2
  return methods.has('HEAD') && !methods.has('GET') ? 0 : 1
}
