import { parseRequestTarget } from '#gateway/routes/request-target.ts'
import { createCarriers } from '#identity/carriers.ts'
import { METHODS } from '#platform/http.ts'
import { didYouMean } from '#platform/text.ts'
import { listedMax } from '../problem.ts'
import type { ConfigReview, ConfigTree } from '../schema/schema.ts'
import { reviewCostHeader, reviewResponseHeaders } from './headers.ts'

type RouteTree = ConfigTree['routes'][number]

/** Checks that each route is valid by itself, and that no two match the same request. */
export function reviewRoutes(review: ConfigReview): void {
  if (!review.hasValidShape(['routes'])) return
  const routes = [...review.tree.routes.entries()].filter(([index]) =>
    review.hasValidShape(['routes', index]),
  )
  for (const [index, route] of routes) {
    reviewMatch(review, index, route)
    reviewRewrite(review, index, route)
    reviewResponseHeaders(review, index, route)
    reviewAccess(review, index, route)
    reviewAuthorization(review, index, route)
    reviewCostHeader(review, index, route)
    reviewCostField(review, index, route)
    reviewIncludeUsage(review, index, route)
    reviewQuotaCounts(review, index, route)
    reviewMissingUpstream(review, index, route)
    reviewWebSocket(review, index, route)
  }
  reviewUpstreamNames(review, routes)
  review.checkUnique(
    routes.map(([index]) => ['routes', index, 'name']),
    (name) => `duplicate route name "${name}"`,
  )
  reviewOverlaps(review, routes)
}

function reviewUpstreamNames(review: ConfigReview, routes: readonly [number, RouteTree][]): void {
  if (!review.hasValidShape(['upstreams'])) return
  const names = Object.keys(review.tree.upstreams)
  let unknown = 0
  for (const [index, { upstream }] of routes) {
    const path = ['routes', index, 'upstream']
    if (upstream === undefined || !review.isValid(path) || Object.hasOwn(review.tree.upstreams, upstream))
      continue
    // No suggestions beyond the listed problems, as each costs a comparison with every upstream.
    const hint = unknown++ < listedMax ? didYouMean(upstream, names) : ''
    review.report(path, `unknown upstream "${upstream}"${hint}`)
  }
}

/** A WebSocket is handed over as a socket, and an HTTP/2 stream is not one. */
function reviewWebSocket(review: ConfigReview, index: number, { upstream = '', websocket }: RouteTree): void {
  const path = ['routes', index, 'websocket']
  if (!websocket || !review.isValid(path) || !review.isValid(['upstreams', upstream])) return
  if (review.tree.upstreams[upstream]?.protocol !== 'http2') return
  review.report(path, `the upstream "${upstream}" speaks HTTP/2: WebSockets need one with protocol http1`)
}

/** Without an upstream, only another proxy can forward the requests of the route, and it has its own rules. */
function reviewMissingUpstream(review: ConfigReview, index: number, route: RouteTree): void {
  const { upstream, auth, stripPrefix, rewrite, responseHeaders } = route
  if (upstream !== undefined || auth === 'deny') return
  const { set, remove } = responseHeaders
  const ownRules = {
    stripPrefix,
    rewrite: rewrite !== undefined,
    responseHeaders: remove.length > 0 || Object.keys(set).length > 0,
  }
  if (review.tree.decide === undefined && review.hasValidShape(['decide']))
    review.report(['routes', index, 'upstream'], 'is missing')
  else
    for (const [option, isGiven] of Object.entries(ownRules))
      if (isGiven)
        review.report(
          ['routes', index, option],
          'needs an upstream: without one another proxy forwards the requests, by rules of its own',
          'key',
        )
}

function reviewAccess(review: ConfigReview, index: number, route: RouteTree): void {
  const at = (field: string) => ['routes', index, field]
  const { auth } = route
  if (!review.isValid(at('auth')) || (auth !== 'none' && auth !== 'optional' && auth !== 'deny')) return
  const why = auth === 'deny' ? 'refuses everybody' : 'allows anonymous requests'
  const message = `cannot be combined with auth: ${auth}, which ${why}`
  if (route.roles !== undefined) review.report(at('roles'), message, 'key')
  if (route.scopes !== undefined) review.report(at('scopes'), message, 'key')
  if (route.verifiedOnly === true) review.report(at('verifiedOnly'), message, 'key')
}

/** If Authorization belongs to the backend, callers need another place for their credential. */
function reviewAuthorization(review: ConfigReview, index: number, route: RouteTree): void {
  const at = (field: string) => ['routes', index, field]
  const { auth, authorization, issuers, browser } = route
  const isKnown = ['auth', 'authorization'].every((field) => review.isValid(at(field)))
  if (!isKnown || authorization === 'gateway' || auth === 'none' || auth === 'deny') return
  if (review.isValid(at('issuers')) && issuers.length > 0)
    review.report(
      at('issuers'),
      'cannot be combined with authorization: backend, as their tokens come in Authorization',
      'key',
    )
  if (!review.isValid(at('browser')) || !review.isValid(['keys', 'accept'])) return
  const takesKeys = auth !== 'bearer' && createCarriers(review.tree.keys.accept).headers.length > 0
  if (!takesKeys && !browser.cookie)
    review.report(
      at('authorization'),
      auth === 'bearer'
        ? 'leaves an access token no place but the access cookie: set browser.cookie, or auth: any'
        : 'leaves a secret key no place: name a header in keys.accept',
    )
}

/** Otherwise it would not be clear which of two factors the number at that place is multiplied by. */
function reviewCostField(review: ConfigReview, index: number, { costField }: RouteTree): void {
  const path = ['routes', index, 'costField']
  if (costField === undefined || !review.isValid(path)) return
  const names = typeof costField === 'string' ? [costField] : Object.keys(costField)
  const places = names.flatMap((name) => name.split(' | '))
  const repeated = places.find((place, at) => places.indexOf(place) !== at)
  if (repeated !== undefined) review.report(path, `"${repeated}" is named twice: name each place once`)
}

/** Usage that nobody reads would only hold bodies up. */
function reviewIncludeUsage(
  review: ConfigReview,
  index: number,
  { includeUsage, costField }: RouteTree,
): void {
  const path = ['routes', index, 'includeUsage']
  if (!includeUsage || costField !== undefined || !review.isValid(path)) return
  review.report(path, 'needs a costField, which says where in the response the usage is', 'key')
}

function reviewQuotaCounts(review: ConfigReview, index: number, route: RouteTree): void {
  const path = ['routes', index, 'quotaCounts']
  const { quotaCounts, costField, costHeader } = route
  if (quotaCounts === 'requests' || !review.isValid(path)) return
  if (costField === undefined && costHeader === undefined)
    review.report(path, 'needs a costField or costHeader, which says how many units a request is', 'key')
}

function reviewOverlaps(review: ConfigReview, routes: readonly [number, RouteTree][]): void {
  const valid = routes.filter(
    ([index, route]) =>
      review.isValid(['routes', index, 'path']) &&
      review.isValid(['routes', index, 'host']) &&
      review.isValid(['routes', index, 'methods']) &&
      pathProblem(route.path) === undefined,
  )
  /** The first route for each kind of request, as comparing 20,000 routes with each other would take too long. */
  const first = new Map<string, (typeof routes)[number]>()
  for (const [index, route] of valid) {
    const matchKeys = matchKeysOf(route)
    const conflicts = matchKeys.map((key) => first.get(key)).filter((rival) => rival !== undefined)
    const [conflict] = conflicts.toSorted(([a], [b]) => a - b)
    if (conflict) {
      const message = `route "${conflict[1].name}" has the same host, path and method: one of them would never match`
      review.report(['routes', index, 'path'], message)
    }
    for (const key of matchKeys) if (!first.has(key)) first.set(key, [index, route])
  }
}

/**
 * Host, path and method of the requests that a route matches. A route that lists its methods takes precedence over one
 * that matches all, so only two of the same kind can conflict.
 */
function matchKeysOf({ host, path, methods }: RouteTree): readonly string[] {
  const place = `${host?.toLowerCase() ?? '*'} ${parseRequestTarget(path)?.path.replace(/\/$/, '')}`
  return (methods ?? ['*']).map((method) => `${place} ${method}`)
}

const neverProxied = new Set(['CONNECT', 'TRACE'])
const hostPattern = /^(?:\[[0-9A-Fa-f:.]+\]|(?:\*\.(?!\.))?[A-Za-z0-9._-]*[A-Za-z0-9_-])$/

/** Checks what requests a route matches. */
function reviewMatch(review: ConfigReview, index: number, route: RouteTree): void {
  const at = (field: string) => ['routes', index, field]
  review.check(at('path'), () => pathProblem(route.path))
  review.check(at('host'), () => (route.host === undefined ? undefined : routeHostProblem(route.host)))
  if (!review.hasValidShape(at('methods'))) return
  for (const [position, method] of (route.methods ?? []).entries())
    review.check([...at('methods'), position], () => methodProblem(method))
}

function routeHostProblem(host: string): string | undefined {
  if (hostPattern.test(host)) return undefined
  if (host === '*') return 'matches every host: leave it out'
  if (host.includes('*'))
    return 'may begin with *. for one or more labels, as in *.example.com: there are no other wildcards'
  return 'must be a host name without scheme, port and path, and without a dot at its end'
}

/** What the backend gets must be a path that no server reads as another. */
function reviewRewrite(review: ConfigReview, index: number, { rewrite, stripPrefix }: RouteTree): void {
  const path = ['routes', index, 'rewrite']
  if (rewrite === undefined || !review.isValid(path)) return
  const problem = /\*|\$[0-9{]|\/:|[{}]/.test(rewrite)
    ? 'replaces the path prefix, and the rest of the path is kept: there are no wildcards (*), groups ($1) or parameters (:id, {id})'
    : pathProblem(rewrite)
  if (problem !== undefined) review.report(path, problem)
  else if (review.isValid(['routes', index, 'stripPrefix']) && stripPrefix)
    review.report(path, 'cannot be combined with stripPrefix: true, which is rewrite: /', 'key')
}

// What other gateways and routers use as wildcards: matched literally it would protect nothing.
const wildcard = /\*|\/:|[{}]/

/** Why servers could interpret a path differently; undefined if they cannot. */
function pathProblem(path: string): string | undefined {
  if (wildcard.test(path)) {
    return 'is a prefix and matches everything below it: there are no wildcards (*), parameters (:id, {id}) or patterns'
  }
  const [character] = /[[\]|<>^"` ]/.exec(path) ?? []
  if (character !== undefined) {
    const encoded = encodeURIComponent(character)
    return `has "${character}", which no path contains: it is a literal prefix, and clients send ${encoded}`
  }
  const target = parseRequestTarget(path)
  if (target?.query !== '' || target.hasParameters || target.hasEncodedSlash) {
    return 'must be a plain path: no query, dot segment, empty segment, parameter (;), backslash or encoded slash'
  }
  // Requests carry other characters percent-encoded: such a path would never match.
  return /^[!-~]+$/.test(path) ? undefined : `must be in ASCII: ${encodeURI(path.toWellFormed())}`
}

function methodProblem(method: string): string | undefined {
  if (neverProxied.has(method)) return `${method} is never proxied`
  if (METHODS.includes(method)) return undefined
  return `"${method}" is not an HTTP method that can be proxied${didYouMean(method, METHODS)}`
}
