import { originOfRoute } from './hosts.ts'
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
  return originOfRoute(route, publicOrigin) + prefixOf(route.path)
}

export function metadataUrl(route: Pick<ResourceRoute, 'path' | 'host'>, publicOrigin: string): string {
  return originOfRoute(route, publicOrigin) + metadataPath(route)
}

function prefixOf(path: string): string {
  return parseRequestTarget(path)?.path.replace(/\/$/, '') ?? ''
}
