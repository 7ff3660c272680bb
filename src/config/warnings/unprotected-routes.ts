import { compileRoutes } from '#gateway/routes/compile.ts'
import { allowsAnonymous } from '#gateway/routes/route.ts'
import { createRouteTable } from '#gateway/routes/table.ts'
import type { Config } from '../config.ts'
import type { Warning } from '../problem.ts'
import {
  backendPrefix,
  type CompiledRoute,
  createRouteIndex,
  exampleOf,
  matchRoute,
  otherHost,
  type RouteIndex,
  rewrites,
  targetOf,
} from './route-index.ts'

/** Why a route without authentication exposes more than it seems to; undefined if it does not. */
type Rule = (route: CompiledRoute, routeIndex: RouteIndex) => Exposure | undefined

type Exposure = Pick<Warning, 'message' | 'hint'>

const rules: readonly Rule[] = [
  exposesAllPaths,
  exposesNestedPaths,
  exposesOtherMethods,
  exposesOtherHosts,
  exposesByRewriting,
]

/**
 * Routes that allow requests without credentials, or reach what another route denies, where that is probably not
 * intended. They are found with the route table that the gateway uses, so that a warning is always correct.
 */
export function findUnprotectedRoutes({
  routes,
  upstreams,
}: Pick<Config, 'routes' | 'upstreams'>): Warning[] {
  const compiled = compileRoutes(routes, new Map(upstreams.map((upstream) => [upstream.name, upstream])))
  const routeIndex = createRouteIndex(compiled)
  return compiled.flatMap((route, index) => {
    const reopened = reopensDenied(route, routeIndex)
    if (reopened) return [{ path: ['routes', index, 'path'], ...reopened }]
    if (!allowsAnonymous(route)) return []
    const exposures = rules.map((rule) => rule(route, routeIndex)).filter((found) => found !== undefined)
    return exposures.map((exposure) => ({ path: ['routes', index, 'auth'], ...exposure }))
  })
}

function exposesAllPaths(route: CompiledRoute): Exposure | undefined {
  if (route.access.kind !== 'public' || route.prefix !== '') return undefined
  const where = route.host === undefined ? '/' : `${route.host}/`
  return {
    message: `route "${route.name}" is public and matches every path under ${where} that no other route matches`,
    hint: 'give it auth: any, or a longer path',
  }
}

/** Without this route its requests would match one that requires a credential. */
function exposesNestedPaths(
  route: CompiledRoute,
  { table, candidates, hostsToCheck }: RouteIndex,
): Exposure | undefined {
  const target = targetOf(route)
  const hosts = route.host === undefined ? hostsToCheck(route.prefix) : [exampleOf(route.host)]
  for (const host of hosts) {
    // No other routes can match this host and path.
    const others = candidates(host, route.prefix).filter((other) => other !== route)
    const without = createRouteTable(others)
    for (const method of methodsOf(
      route,
      others.filter((other) => !allowsAnonymous(other)),
    )) {
      const next = matchRoute(without, { host, target, method })
      // A denied route is there so that routes such as this one can open a part of what it closes.
      if (
        !next ||
        allowsAnonymous(next) ||
        next.isDenied ||
        matchRoute(table, { host, target, method }) !== route
      )
        continue
      // Both have the same host and prefix: a route that lists a method there is intended.
      if (next.prefix === route.prefix && next.host === route.host) continue
      const place =
        next.prefix === route.prefix
          ? `for host ${host}, where it takes precedence over the protected route "${next.name}"`
          : `inside the protected route "${next.name}" (${next.prefix || '/'})`
      return {
        message: `route "${route.name}" ${verbOf(route)} ${place}`,
        hint: `if that is not intended, give it the auth of "${next.name}"`,
      }
    }
  }
  return undefined
}

/** It matches all methods that protected routes with the same host and prefix do not list. */
function exposesOtherMethods(route: CompiledRoute, { routesAt }: RouteIndex): Exposure | undefined {
  if (route.methods !== undefined) return undefined
  const beside = routesAt(route.host, route.prefix).filter(
    (other) => !allowsAnonymous(other) && !other.isDenied,
  )
  const methods = [...new Set(beside.flatMap((other) => [...(other.methods ?? [])]))]
  if (methods.length === 0) return undefined
  const names = beside.map(({ name }) => `"${name}"`).join(', ')
  return {
    message: `route "${route.name}" ${verbOf(route)} for every method except ${methods.join(', ')}, beside the protected ${names}`,
    hint: 'list the methods that may be public',
  }
}

/** A protected route has a host, but a request with another Host matches this route and gets to the same backend. */
function exposesOtherHosts(route: CompiledRoute, { bypassedBy }: RouteIndex): Exposure | undefined {
  const bypassed = bypassedBy(route)
  const hosts = route.host === undefined ? 'every host' : `every host of ${route.host}`
  return (
    bypassed && {
      message: `route "${route.name}" ${verbOf(route)} at ${bypassed.prefix || '/'} of ${hosts} except ${bypassed.host}, where "${bypassed.name}" protects it`,
      hint: `remove the host of "${bypassed.name}", or give "${route.name}" one`,
    }
  )
}

/** With a replaced prefix it reaches paths of the backend that another route protects. */
function exposesByRewriting(route: CompiledRoute, { bypassedByRewriting }: RouteIndex): Exposure | undefined {
  const bypassed = bypassedByRewriting(route)
  if (!bypassed) return undefined
  const rewriting = rewrites(route) ? route : bypassed
  const how = rewriting.rewrite === '' ? 'strips its prefix' : `rewrites its prefix to ${rewriting.rewrite}`
  return {
    message: `route "${route.name}" ${verbOf(route)} and reaches what "${bypassed.name}" protects at its backend, as "${rewriting.name}" ${how}`,
    hint: `give it the auth of "${bypassed.name}", or its own upstream`,
  }
}

/** With a replaced prefix it reaches paths of the backend that another route closes for everybody. */
function reopensDenied(route: CompiledRoute, { table, reopens }: RouteIndex): Exposure | undefined {
  const denied = rewrites(route) && !route.isDenied ? reopens(route) : undefined
  if (!denied) return undefined
  const prefix = route.prefix + backendPrefix(denied).slice(backendPrefix(route).length)
  const [method = 'GET'] = route.methods ?? []
  const host = exampleOf(route.host ?? otherHost)
  // It may be closed there, too.
  if (matchRoute(table, { host, target: targetOf({ ...route, prefix }), method }) !== route) return undefined
  return {
    message: `route "${route.name}" reaches by ${prefix} what "${denied.name}" closes at its backend`,
    hint: `deny ${prefix} too`,
  }
}

function verbOf({ access }: CompiledRoute): string {
  return access.kind === 'public' ? 'is public' : 'allows anonymous requests'
}

/** The methods that a route matches; if it matches all, enough of them to compare it with every other route. */
function methodsOf({ methods }: CompiledRoute, others: readonly CompiledRoute[]): readonly string[] {
  return [...(methods ?? new Set(['GET', ...others.flatMap((other) => [...(other.methods ?? [])])]))]
}
