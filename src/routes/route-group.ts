import type { Route } from './route.ts'

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
