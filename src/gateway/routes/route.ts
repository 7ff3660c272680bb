import type { RequestTarget } from './request-target.ts'

/** Who may call a route, and how often. */
export interface GatedRoute {
  readonly name: string
  /** Its place in the table that it is of; undefined = it is of none. */
  readonly index?: number | undefined
  readonly access: Access
  readonly rateLimit: RouteRate | undefined
  /** How browsers authenticate that can set no header; absent = they cannot. */
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
  /** In lower case; undefined = any. */
  readonly host: string | undefined
  /** Without a trailing slash; empty for the catch-all route. */
  readonly prefix: string
  /** Number of its segments: how many `stripPrefix` removes. */
  readonly depth: number
  /** undefined = any; includes HEAD if it includes GET. */
  readonly methods: ReadonlySet<string> | undefined
  readonly upstream: Upstream
  readonly websocket: boolean
  readonly stripPrefix: boolean
  readonly passesEncodedSlash: boolean
  /** Whether its backend treats paths as case-sensitive. */
  readonly isCaseSensitive: boolean
  readonly passesMethodOverride: boolean
  /** Whether trailer fields of requests reach the upstream. */
  readonly passesTrailers: boolean
  readonly forwardsCredentials: boolean
  readonly destination: DestinationForm
  /** What caches are told about its responses; undefined = only what the backend says, as the route is public. */
  readonly caching: ResponseCaching | undefined
  /** The field of responses that says how many units a request used; undefined = each is one unit. */
  readonly costHeader: string | undefined
  readonly bodyBytesMax: number
  readonly responseTimeoutMs: number
  readonly idleTimeoutMs: number
}

/**
 * The Destination of WebDAV as the backend gets it: with the scheme and host of X-Forwarded-*, less what the route strips
 * (`forwarded`) or with it (`public`), or as the URL of the target itself.
 */
export type DestinationForm = 'forwarded' | 'public' | 'target'

/** What caches are told about the responses of a route whose callers are authenticated. */
export interface ResponseCaching {
  /** The request fields that decide who is calling, as `Vary` names them. */
  readonly names: readonly string[]
  /** `Vary` with these names, ended by CR LF. */
  readonly varyLine: string
  /** The same and `Cache-Control: private`, for a response to an authenticated caller. */
  readonly privateLines: string
}

/** The methods announced for a route that allows any: those that RFC 9110 9 defines for resources, and PATCH. */
export const standardMethods: readonly string[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** A burst of so many requests, refilled by as many per `perMs`, for each account or client address. */
export interface RateLimit {
  readonly limit: number
  readonly perMs: number
  readonly by: 'account' | 'key' | 'ip'
}

/** That of one route. */
export interface RouteRate extends RateLimit {
  /** Of `purposes`, where who is counted is as `by` says: of thousands of routes each object is one more load from memory. */
  readonly purpose: string
  /** See Rate. */
  recentPlace: number
  /** What is counted, by who is: texts that are the same objects for each request, as looking up a new one takes long. */
  readonly purposes: Readonly<Record<RateLimit['by'], string>>
}

export type SchemeName = 'secretKey' | 'bearer'

/**
 * Who may call. A protected route has at least one scheme, so an empty list cannot mean "open". `leavesAuthorization`:
 * the Authorization field is the backend's, and says nothing of the caller.
 */
export type Access = { readonly leavesAuthorization?: true } & (
  | { readonly kind: 'public' }
  | {
      readonly kind: 'protected'
      readonly schemes: readonly [SchemeName, ...SchemeName[]]
      /** Whether a request without credentials is admitted anonymously. */
      readonly isOptional: boolean
      /** undefined = any. */
      readonly roles: ReadonlySet<string> | undefined
      /** All of them are needed by a key or token with scopes; undefined = only those without scopes are admitted. */
      readonly scopes: readonly string[] | undefined
      readonly verifiedOnly: boolean
      /** Names of the foreign issuers whose tokens are accepted too; undefined = none. */
      readonly issuers: ReadonlySet<string> | undefined
      /** Where clients find out about the issuers (RFC 9728); undefined = it names none. */
      readonly metadataUrl?: string | undefined
    }
)

/** The target that the upstream gets: as it was sent, less the prefix where the route strips it. */
export function upstreamTarget(
  { stripPrefix, depth }: Pick<Route<unknown>, 'stripPrefix' | 'depth'>,
  { sentPath, query }: RequestTarget,
): string {
  return (stripPrefix ? dropSegments(sentPath, depth) : sentPath) + query
}

function dropSegments(path: string, count: number): string {
  let start = 0
  for (let dropped = 0; dropped < count; dropped++) {
    const next = path.indexOf('/', start + 1)
    if (next === -1) return '/'
    start = next
  }
  return path.slice(start)
}

/** Routes that share a host and a prefix, and differ in the method. */
export interface RouteGroup<Upstream> {
  /** In lower case; undefined = any. */
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
