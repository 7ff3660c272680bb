import { createHostLookup, isWildcard } from '#gateway/routes/hosts.ts'
import { parseRequestTarget, type RequestTarget } from '#gateway/routes/request-target.ts'
import { allowsAnonymous, type Route } from '#gateway/routes/route.ts'
import { createRouteTable, type RouteTable } from '#gateway/routes/table.ts'
import type { UpstreamConfig } from '#http/upstream/upstream-config.ts'

export type CompiledRoute = Route<UpstreamConfig | undefined>

/**
 * An index of routes for the rules about unprotected routes, and the gateway's route table. A look-up costs about the
 * same for any number of routes.
 */
export interface RouteIndex {
  readonly table: RouteTable<UpstreamConfig | undefined>
  /** The routes of a host, as they name it, and prefix; undefined = the routes for any host. */
  routesAt(host: string | undefined, prefix: string): readonly CompiledRoute[]
  /** All routes that could match a request for this host whose path is this prefix. */
  candidates(host: string, prefix: string): readonly CompiledRoute[]
  /** A host that no route names, and the hosts of protected routes at or above a prefix, the nearest first. */
  hostsToCheck(prefix: string): Iterable<string>
  /** The protected route with a host whose backend and path this unprotected route reaches for other hosts. */
  bypassedBy(route: CompiledRoute): CompiledRoute | undefined
  /**
   * The protected route whose backend paths this unprotected route reaches too, as one of the two replaces its prefix.
   */
  bypassedByRewriting(route: CompiledRoute): CompiledRoute | undefined
  /** The denied route whose backend paths this one reaches, as it replaces its prefix. */
  reopens(route: CompiledRoute): CompiledRoute | undefined
}

/** A host that no route names. */
export const otherHost = 'any-other-host.invalid'

/** A host that a route stands for, if possible one that no other route names. */
export function exampleOf(host: string): string {
  return isWildcard(host) ? otherHost + host.slice(1) : host
}

export function createRouteIndex(routes: readonly CompiledRoute[]): RouteIndex {
  const table = createRouteTable(routes)
  const protectedRoutes = routes.filter((route) => !allowsAnonymous(route))
  const byHostAndPrefix = Map.groupBy(routes, ({ host, prefix }) => keyOf(host, prefix))
  const protectedByPrefix = Map.groupBy(
    protectedRoutes.filter(({ host }) => host !== undefined),
    ({ prefix }) => prefix,
  )
  const bypassed = findBypassed(protectedRoutes, table)
  const hosts = createHostLookup(new Map(routes.map(({ host }) => [host, host ?? '*'])))
  const routesAt: RouteIndex['routesAt'] = (host, prefix) => byHostAndPrefix.get(keyOf(host, prefix)) ?? []

  function* hostsToCheck(prefix: string) {
    yield otherHost
    for (const path of prefixesOf(prefix)) {
      for (const { host } of protectedByPrefix.get(path) ?? []) if (host !== undefined) yield exampleOf(host)
    }
  }

  return {
    table,
    routesAt,
    hostsToCheck,
    bypassedByRewriting: createBackendIndex(protectedRoutes),
    reopens: createBackendIndex(deniedAtBackends(routes)),
    candidates: (host, prefix) =>
      prefixesOf(prefix).flatMap((path) =>
        hosts.valuesFor(host).flatMap((named) => routesAt(named === '*' ? undefined : named, path)),
      ),
    bypassedBy: (route) => bypassed.get(route),
  }
}

/** Whether its backend sees other paths than those that it is matched by. */
export function rewrites({ rewrite }: CompiledRoute): boolean {
  return rewrite !== undefined
}

/** The prefix of its paths as the backend sees them. */
export function backendPrefix({ rewrite, prefix }: CompiledRoute): string {
  return rewrite ?? prefix
}

export function targetOf({ name, prefix }: Pick<CompiledRoute, 'name' | 'prefix'>): RequestTarget {
  const target = parseRequestTarget(prefix || '/')
  if (!target) throw new Error(`the prefix of route ${name} is not a path`)
  return target
}

export function matchRoute(
  table: RouteTable<UpstreamConfig | undefined>,
  {
    host,
    target,
    method,
  }: { readonly host: string; readonly target: RequestTarget; readonly method: string },
): CompiledRoute | undefined {
  const match = table.match(host, target, method)
  return match.kind === 'route' ? match.route : undefined
}

/** Unambiguous, as no host is an asterisk. */
function keyOf(host: string | undefined, prefix: string): string {
  return `${host ?? '*'} ${prefix}`
}

/** A prefix and all prefixes above it, the longest first. */
function prefixesOf(prefix: string): readonly string[] {
  const segments = prefix.split('/')
  return segments.map((_, index) => segments.slice(0, segments.length - index).join('/'))
}

/** For each unprotected route, the first protected route with a host that it bypasses for other hosts. */
function findBypassed(
  protectedRoutes: readonly CompiledRoute[],
  table: RouteTable<UpstreamConfig | undefined>,
): ReadonlyMap<CompiledRoute, CompiledRoute> {
  const bypassed = new Map<CompiledRoute, CompiledRoute>()
  for (const other of protectedRoutes) {
    if (other.host === undefined || rewrites(other)) continue
    const target = targetOf(other)
    // A wildcard stands for hosts beside this one.
    const beside = `${otherHost}${other.host.slice(other.host.indexOf('.', 1))}`
    for (const host of [otherHost, beside])
      for (const method of other.methods ?? ['GET']) {
        const route = matchRoute(table, { host, target, method })
        if (!route || rewrites(route) || route.upstream !== other.upstream) continue
        if (!bypassed.has(route)) bypassed.set(route, other)
      }
  }
  return bypassed
}

/**
 * A route reaches all paths of its backend below its rewritten prefix, including those of the other routes there. A
 * route below another's prefix is a part that somebody has named on purpose.
 */
function createBackendIndex(protectedRoutes: readonly CompiledRoute[]): RouteIndex['bypassedByRewriting'] {
  const byUpstream = new Map(
    [...Map.groupBy(protectedRoutes, ({ upstream }) => upstream)].map(([upstream, routes]) => {
      const index = { all: createPlaceIndex(routes), rewriting: createPlaceIndex(routes.filter(rewrites)) }
      return [upstream, index] as const
    }),
  )
  return (route) => {
    const index = byUpstream.get(route.upstream)
    return rewrites(route) ? index?.all(route) : index?.rewriting(route)
  }
}

/** Denied routes with the upstream that they close: that of the route that would match without them. */
function deniedAtBackends(routes: readonly CompiledRoute[]): readonly CompiledRoute[] {
  const denied = routes.filter(({ isDenied }) => isDenied)
  if (denied.length === 0) return []
  const others = createRouteTable(routes.filter(({ isDenied }) => !isDenied))
  return denied.flatMap((route) => {
    const [method = 'GET'] = route.methods ?? []
    const next = matchRoute(others, {
      host: exampleOf(route.host ?? otherHost),
      target: targetOf(route),
      method,
    })
    return next && !rewrites(next) ? [{ ...route, upstream: next.upstream }] : []
  })
}

/** Finds the first of the routes that reaches the same paths of the backend as another, and shares a method with it. */
function createPlaceIndex(routes: readonly CompiledRoute[]): RouteIndex['bypassedByRewriting'] {
  const atOrBelow = new Map<string, CompiledRoute[]>()
  for (const route of routes)
    for (const place of prefixesOf(backendPrefix(route))) {
      const there = atOrBelow.get(place)
      if (there === undefined) atOrBelow.set(place, [route])
      else there.push(route)
    }
  const indexes = new Map([...atOrBelow].map(([place, members]) => [place, createMethodIndex(members)]))
  return (route) => indexes.get(backendPrefix(route))?.(route)
}

/** Finds the first of the routes that shares a method with another. */
function createMethodIndex(routes: readonly CompiledRoute[]) {
  /** The first position by method; '*' = of a route that matches all methods, '' = of any route. */
  const first = new Map<string, number>()
  for (const [position, { methods }] of routes.entries()) {
    for (const method of ['', ...(methods ?? ['*'])]) if (!first.has(method)) first.set(method, position)
  }
  return ({ methods }: CompiledRoute): CompiledRoute | undefined => {
    const shared = methods ? ['*', ...methods] : ['']
    return routes[Math.min(...shared.map((method) => first.get(method) ?? Number.POSITIVE_INFINITY))]
  }
}
