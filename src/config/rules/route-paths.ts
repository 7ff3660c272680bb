import { parseRequestTarget } from '#gateway/routes/request-target.ts'
import { METHODS } from '#platform/http.ts'
import { didYouMean } from '#platform/text.ts'
import type { ConfigReview, ConfigTree } from '../schema/schema.ts'

type RouteTree = ConfigTree['routes'][number]

const neverProxied = new Set(['CONNECT', 'TRACE'])
const hostPattern = /^(?:\[[0-9A-Fa-f:.]+\]|(?:\*\.(?!\.))?[A-Za-z0-9._-]*[A-Za-z0-9_-])$/

/** Checks what requests a route matches. */
export function reviewMatch(review: ConfigReview, index: number, route: RouteTree): void {
  const at = (field: string) => ['routes', index, field]
  review.check(at('path'), () => pathProblem(route.path))
  review.check(at('host'), () => (route.host === undefined ? undefined : hostProblem(route.host)))
  if (!review.hasValidShape(at('methods'))) return
  for (const [position, method] of (route.methods ?? []).entries())
    review.check([...at('methods'), position], () => methodProblem(method))
}

function hostProblem(host: string): string | undefined {
  if (hostPattern.test(host)) return undefined
  if (host === '*') return 'matches every host: leave it out'
  if (host.includes('*'))
    return 'may begin with *. for one or more labels, as in *.example.com: there are no other wildcards'
  return 'must be a host name without scheme, port and path, and without a dot at its end'
}

/** What the backend gets must be a path that no server reads as another. */
export function reviewRewrite(
  review: ConfigReview,
  index: number,
  { rewrite, stripPrefix }: RouteTree,
): void {
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
export function pathProblem(path: string): string | undefined {
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
