import { isWildcard, originOfRoute } from './hosts.ts'
import { type FrontedIssuer, issuerPathsOf } from './issuer-paths.ts'
import {
  adminPatterns,
  changePasswordPath,
  documentMethods,
  fixedPaths,
  isAdminPath,
  securityTxtPath,
} from './own-operations.ts'
import { metadataPathsOf, type ResourceRoute } from './protected-resources.ts'
import { createWorkerScopes, type WorkerScopes } from './worker-scopes.ts'

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

/** Parts of a config that give the gateway further paths. */
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
    .map((route) => originOfRoute(route, publicOrigin))
  return new Map(origins.map((origin) => [new URL(origin).hostname, origin]))
}
