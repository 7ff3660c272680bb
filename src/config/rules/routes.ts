import { METHODS } from 'node:http'
import { parseTarget } from '../../routes/target.ts'
import { didYouMean } from '../../text/suggest.ts'
import { listedMax } from '../problem.ts'
import type { Review } from '../review.ts'

type RouteTree = Review['tree']['routes'][number]

const neverProxied = new Set(['CONNECT', 'TRACE'])
const hostPattern = /^(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)$/

/** Checks that each route is valid by itself, and that no two are for the same request. */
export function reviewRoutes(review: Review): void {
  if (!review.isShaped(['routes'])) return
  const routes = [...review.tree.routes.entries()].filter(([index]) => review.isShaped(['routes', index]))
  for (const [index, route] of routes) {
    reviewMatch(review, index, route)
    reviewAccess(review, index, route)
  }
  reviewUpstreamNames(review, routes)
  reviewNames(review, routes)
  reviewOverlaps(review, routes)
}

function reviewUpstreamNames(review: Review, routes: readonly [number, RouteTree][]): void {
  if (!review.isShaped(['upstreams'])) return
  const names = Object.keys(review.tree.upstreams)
  let unknown = 0
  for (const [index, { upstream }] of routes) {
    const path = ['routes', index, 'upstream']
    if (!review.isSound(path) || Object.hasOwn(review.tree.upstreams, upstream)) continue
    // No suggestions beyond the problems that are listed: each costs a comparison with every upstream.
    const hint = unknown++ < listedMax ? didYouMean(upstream, names) : ''
    review.report(path, `there is no upstream "${upstream}"${hint}`)
  }
}

function reviewMatch(review: Review, index: number, route: RouteTree): void {
  const at = (field: string) => ['routes', index, field]
  const ofPath = review.isSound(at('path')) ? pathComplaint(route.path) : undefined
  if (ofPath) review.report(at('path'), ofPath)
  if (review.isSound(at('host')) && route.host !== undefined && !hostPattern.test(route.host)) {
    review.report(at('host'), 'must be a host name without scheme, port and path')
  }
  for (const [position, method] of (review.isShaped(at('methods')) ? (route.methods ?? []) : []).entries()) {
    const path = [...at('methods'), position]
    const ofMethod = review.isSound(path) ? methodComplaint(method) : undefined
    if (ofMethod) review.report(path, ofMethod)
  }
}

// What other gateways and routers use for "anything": taken literally it would protect nothing.
const wildcard = /\*|\/:|[{}]/

/** Why servers could read a path differently; undefined where they cannot. */
function pathComplaint(path: string): string | undefined {
  if (wildcard.test(path)) {
    return 'is a prefix and takes whatever is below it: there are no wildcards (*), parameters (:id, {id}) or patterns'
  }
  const target = parseTarget(path)
  if (target?.query !== '' || target.hasParameters || target.hasEncodedSlash) {
    return 'must be a plain path: no query, dot segment, empty segment, parameter (;), backslash or encoded slash'
  }
  // Requests carry other characters percent-encoded: such a path would never match.
  return /^[!-~]+$/.test(path) ? undefined : `must be in ASCII: ${encodeURI(path.toWellFormed())}`
}

function methodComplaint(method: string): string | undefined {
  if (neverProxied.has(method)) return `${method} is never proxied`
  if (METHODS.includes(method)) return undefined
  return `"${method}" is not an HTTP method that can be proxied${didYouMean(method, METHODS)}`
}

function reviewAccess(review: Review, index: number, route: RouteTree): void {
  const at = (field: string) => ['routes', index, field]
  if (!review.isSound(at('auth')) || (route.auth !== 'none' && route.auth !== 'optional')) return
  const message = `cannot be combined with auth: ${route.auth}, which lets anonymous requests pass`
  if (route.roles !== undefined) review.report(at('roles'), message, 'key')
  if (route.verifiedOnly === true) review.report(at('verifiedOnly'), message, 'key')
}

function reviewNames(review: Review, routes: readonly [number, RouteTree][]): void {
  const seen = new Set<string>()
  for (const [index, { name }] of routes) {
    const path = ['routes', index, 'name']
    if (!review.isSound(path)) continue
    if (seen.has(name)) review.report(path, `there is another route named "${name}"`)
    seen.add(name)
  }
}

function reviewOverlaps(review: Review, routes: readonly [number, RouteTree][]): void {
  const sound = routes.filter(
    ([index, route]) =>
      review.isSound(['routes', index, 'path']) &&
      review.isSound(['routes', index, 'host']) &&
      review.isSound(['routes', index, 'methods']) &&
      pathComplaint(route.path) === undefined,
  )
  /** The first route for each kind of request: comparing 20,000 routes with each other would take too long. */
  const first = new Map<string, (typeof routes)[number]>()
  for (const [index, route] of sound) {
    const wants = wantsOf(route)
    const rivals = wants.map((want) => first.get(want)).filter((rival) => rival !== undefined)
    const [rival] = rivals.toSorted(([a], [b]) => a - b)
    if (rival) {
      const message = `route "${rival[1].name}" has the same host, path and method: one of them would never be used`
      review.report(['routes', index, 'path'], message)
    }
    for (const want of wants) if (!first.has(want)) first.set(want, [index, route])
  }
}

/**
 * Host, path and method of the requests that a route is for. A route that names its methods wins over one that takes
 * all: only two of the same kind can conflict.
 */
function wantsOf({ host, path, methods }: RouteTree): readonly string[] {
  const place = `${host?.toLowerCase() ?? '*'} ${parseTarget(path)?.path.replace(/\/$/, '')}`
  return (methods ?? ['*']).map((method) => `${place} ${method}`)
}
