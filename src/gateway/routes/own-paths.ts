import { isWildcard } from './hosts.ts'
import {
  adminPatterns,
  changePasswordPath,
  documentMethods,
  type FrontedIssuer,
  fixedPaths,
  isAdminPath,
  issuerPathsOf,
  securityTxtPath,
} from './own-operations.ts'
import { parseRequestTarget } from './request-target.ts'

/** The paths that belong to the gateway for every method, and take precedence over any route. */
export interface OwnPaths {
  /** @param hostName in lower case; undefined = on any host */
  has(path: string, hostName?: string): boolean
  /** Whether a path may be one of these on any host. Rules out most other paths without a look-up. */
  mayHave(path: string): boolean
  /** Whether a host has the paths of the gateway only, and no routes. */
  isOwnHost(hostName: string): boolean
  /** The methods that a path supports; undefined where the portal decides. */
  methodsOf(path: string): readonly string[] | undefined
  /** The service workers that could reach the portal; undefined = there is no portal on this origin. */
  readonly portalScopes: WorkerScopes | undefined
}

/** Whether there is a portal, and where. */
interface PortalMount {
  readonly enabled: boolean
  readonly path: string
  /** The only host with a portal; undefined = all hosts have it. */
  readonly host?: string | undefined
  /** Whether people have passwords there. */
  readonly acceptsPasswords?: boolean
}

/** What has paths of the gateway only where the config says so. */
interface FurtherPaths {
  /** Those with `registration` have endpoints. */
  readonly issuers?: readonly FrontedIssuer[]
  /** undefined = its path is free for routes. */
  readonly securityTxt?: string | undefined
}

/**
 * @param routes those that accept bearer tokens have metadata at paths of the gateway; those with `signIn` have a path
 * to return by
 */
export function createOwnPaths(
  portal: PortalMount,
  routes: readonly (ResourceRoute & SignInRoute)[] = [],
  { issuers = [], securityTxt }: FurtherPaths = {},
): OwnPaths {
  const { enabled, path: portalPath, host: portalHost, acceptsPasswords = false } = portal
  const documents = [...metadataPathsOf(routes), ...(securityTxt === undefined ? [] : [securityTxtPath])]
  const documentEntries = documents.map((path) => [path, documentMethods] as const)
  const signInReturnEntries = returnsToOtherHosts(portal, routes)
    ? [[signInReturnPath, ['GET']] as const]
    : []
  const known: ReadonlyMap<string, readonly string[]> = new Map([
    ...fixedPaths,
    ...documentEntries,
    ...signInReturnEntries,
    ...issuerPathsOf(issuers),
  ])
  const portalPrefix = `${portalPath}/`

  function methodsOf(path: string): readonly string[] | undefined {
    const methods = known.get(path)
    if (methods || !isAdminPath(path)) return methods
    return adminPatterns.find(({ pattern }) => pattern.test(path))?.methods
  }

  /** Every known path begins with one of these. */
  const ownPrefixes = [...new Set([...known.keys()].map(firstSegments))]

  function isOfPortal(path: string): boolean {
    if (path === changePasswordPath) return acceptsPasswords
    return enabled && (path === portalPath || path.startsWith(portalPrefix))
  }

  function hasPortal(hostName: string | undefined): boolean {
    return portalHost === undefined || hostName === undefined || hostName === portalHost
  }

  return {
    methodsOf,
    portalScopes: enabled && portalHost === undefined ? createWorkerScopes(portalPath) : undefined,
    mayHave: (path) => ownPrefixes.some((prefix) => path.startsWith(prefix)) || isOfPortal(path),
    has: (path, hostName) => methodsOf(path) !== undefined || (isOfPortal(path) && hasPortal(hostName)),
    isOwnHost: (hostName) => enabled && hostName === portalHost,
  }
}

/** The start of a path, as `ownPrefixes` has them: the first two segments, `/api/v1/`, or all of a shorter path. */
function firstSegments(path: string): string {
  const end = path.indexOf('/', path.indexOf('/', 1) + 1)
  return end <= 0 ? path : path.slice(0, end + 1)
}

/**
 * Which service workers could reach a page. A browser lets the script of a service worker control every page whose path
 * begins with the folder of the script, or with what `Service-Worker-Allowed` names instead
 * (https://w3c.github.io/ServiceWorker/#service-worker-allowed).
 */
export interface WorkerScopes {
  /** Whether a service worker could reach the page. @param scriptPath decoded as routes are matched */
  isReachedFrom(scriptPath: string): boolean
  /** Whether a Service-Worker-Allowed could let a script reach the page; true where it cannot be read. */
  isReachedBy(allowed: string, scriptPath: string): boolean
}

/** @param page the path of the page, and of all pages below it, such as `/portal` */
export function createWorkerScopes(page: string): WorkerScopes {
  const below = `${page}/`
  // A scope is a prefix of characters, not of segments: `/po` reaches `/portal`.
  const isScopeOver = (scope: string) => page.startsWith(scope) || scope.startsWith(below)

  function isReachedBy(allowed: string, scriptPath: string): boolean {
    // The browser resolves it against the script's URL, and ignores it for another origin.
    const url = URL.parse(allowed.trim(), `http://gateway.invalid${scriptPath}`)
    if (!url) return true
    try {
      // Decoded, as pages are matched decoded.
      return isScopeOver(decodeURIComponent(url.pathname))
    } catch {
      return true
    }
  }

  return {
    isReachedFrom: (scriptPath) => {
      const folderLength = scriptPath.lastIndexOf('/') + 1
      if (folderLength > page.length) return scriptPath.startsWith(below)
      return page.startsWith(scriptPath.slice(0, folderLength))
    },
    isReachedBy,
  }
}

// Routes that take bearer tokens, as protected resources of OAuth (RFC 9728).

const wellKnown = '/.well-known/oauth-protected-resource'

/** The part of a route that makes it a protected resource. */
interface ResourceRoute {
  readonly path: string
  readonly auth: string
  readonly host?: string | undefined
  /** Who the Authorization field belongs to; default: the gateway. */
  readonly authorization?: string | undefined
}

/** Whether a route takes bearer tokens. */
export function takesTokens({ auth, authorization }: Pick<ResourceRoute, 'auth' | 'authorization'>): boolean {
  return authorization !== 'backend' && (auth === 'bearer' || auth === 'any' || auth === 'optional')
}

/** The paths at which route metadata is published: the well-known path followed by that of the route (3.1). */
function metadataPathsOf(routes: readonly ResourceRoute[]): ReadonlySet<string> {
  return new Set(routes.filter(takesTokens).map(metadataPath))
}

export function metadataPath({ path }: Pick<ResourceRoute, 'path'>): string {
  return wellKnown + prefixOf(path)
}

/** The resource identifier (1.2): the URL of the route as clients see it, without a trailing slash. */
export function resourceUrl(route: Pick<ResourceRoute, 'path' | 'host'>, publicOrigin: string): string {
  return originOf(route, publicOrigin) + prefixOf(route.path)
}

export function metadataUrl(route: Pick<ResourceRoute, 'path' | 'host'>, publicOrigin: string): string {
  return originOf(route, publicOrigin) + metadataPath(route)
}

function prefixOf(path: string): string {
  return parseRequestTarget(path)?.path.replace(/\/$/, '') ?? ''
}

/** Like `publicUrl`, but with the host of the route, if it has one. */
function originOf({ host }: Pick<ResourceRoute, 'host'>, publicOrigin: string): string {
  if (host === undefined) return publicOrigin
  const url = new URL(publicOrigin)
  url.hostname = host
  return url.origin
}

/** The part of a route that decides whether page visits sign in. */
interface SignInRoute {
  readonly host?: string | undefined
  readonly browser?: { readonly signIn: boolean } | undefined
}

/**
 * The path on every host by which a portal on its own host returns visitors. Not in the table of own paths, as it
 * exists only with such a portal.
 */
export const signInReturnPath = '/api/v1/accounts/sign-in'

/** Whether page visits sign in on another host than that of the page. */
export function returnsToOtherHosts(
  portal: { enabled: boolean; host?: string | undefined },
  routes: readonly SignInRoute[],
) {
  return portal.enabled && portal.host !== undefined && routes.some(({ browser }) => browser?.signIn === true)
}

/**
 * The hosts that people may be returned to, in lower case, with their origins: those of routes with `browser.signIn`,
 * and that of `publicUrl` for routes that name none.
 */
export function signInHostsOf(
  routes: readonly SignInRoute[],
  publicOrigin: string,
): ReadonlyMap<string, string> {
  const origins = routes
    // A wildcard names no host to lead to.
    .filter(({ host, browser }) => browser?.signIn === true && !isWildcard(host))
    .map((route) => originOf(route, publicOrigin))
  return new Map(origins.map((origin) => [new URL(origin).hostname, origin]))
}
