import { parseRequestTarget } from './request-target.ts'

/** Routes that take bearer tokens, as protected resources of OAuth (RFC 9728). */

const wellKnown = '/.well-known/oauth-protected-resource'

/** The part of a route that makes it a resource. */
export interface ResourceRoute {
  readonly path: string
  readonly auth: string
  readonly host?: string | undefined
  /** Whose the Authorization field is; default: the gateway's. */
  readonly authorization?: string | undefined
}

/** Whether a route takes bearer tokens. */
export function takesTokens({ auth, authorization }: Pick<ResourceRoute, 'auth' | 'authorization'>): boolean {
  return authorization !== 'backend' && (auth === 'bearer' || auth === 'any' || auth === 'optional')
}

/** The paths at which the metadata of routes is published: the well-known path before that of the route (3.1). */
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

/** A route of one host is seen at that host, in other respects as `publicUrl` says. */
export function originOf({ host }: Pick<ResourceRoute, 'host'>, publicOrigin: string): string {
  if (host === undefined) return publicOrigin
  const url = new URL(publicOrigin)
  url.hostname = host
  return url.origin
}
