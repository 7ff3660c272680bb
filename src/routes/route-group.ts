import type { Route } from './route.ts'

/** Routes that share a host and a prefix: the method tells them apart. */
export interface RouteGroup<Upstream> {
  /** In lower case; undefined = any. */
  readonly host: string | undefined
  /** Without a slash at its end. */
  readonly prefix: string
  /** The most specific about methods first. */
  readonly routes: readonly Route<Upstream>[]
}

/** Gathers routes into their places. */
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

/** The route of a place that takes a method. */
export function routeFor<Upstream>(
  { routes }: RouteGroup<Upstream>,
  method: string,
): Route<Upstream> | undefined {
  return routes.find(({ methods }) => methods === undefined || methods.has(method))
}

/**
 * How general a route's methods are. A route that names HEAD comes before one that takes it only because it takes GET,
 * and both before one that takes all.
 */
function generalityOf({ methods }: Route<unknown>): number {
  if (methods === undefined) return 2
  return methods.has('HEAD') && !methods.has('GET') ? 0 : 1
}
