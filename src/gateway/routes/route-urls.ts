import { isWildcard } from './host-lookup.ts'
import { parseRequestTarget } from './request-target.ts'

// Routes that take bearer tokens, as protected resources of OAuth (RFC 9728).

const wellKnown = '/.well-known/oauth-protected-resource'

/** The part of a route that makes it a protected resource. */
export interface ResourceRoute {
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
export function metadataPathsOf(routes: readonly ResourceRoute[]): ReadonlySet<string> {
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
export interface SignInRoute {
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
