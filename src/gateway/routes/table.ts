import { type GatehouseError, sharedError } from '#platform/errors/gatehouse-error.ts'
import { type AmbiguityIndex, createAmbiguityIndex } from './ambiguity-index.ts'
import { ambiguousHostError, createHostLookup, hostsOverlap, plainHostName } from './hosts.ts'
import { findByPrefix, PrefixIndex } from './prefix-index.ts'
import { foldCase, otherRouteDetail, pathFaults, type RequestTarget } from './request-target.ts'
import { groupRoutes, type Route, type RouteGroup, routeFor, standardMethods } from './route.ts'

/** The host and target of a request, parsed and unambiguous. */
export interface Destination {
  readonly target: RequestTarget
  /** In lower case, without port. */
  readonly hostName: string
}

type RouteMatch<Upstream> =
  | { readonly kind: 'route'; readonly route: Route<Upstream> }
  | {
      readonly kind: 'method'
      readonly allowed: readonly string[]
      /** The only route of the path, if there is just one. */
      readonly onlyRoute: Route<Upstream> | undefined
    }
  | Mismatch

type Mismatch =
  | { readonly kind: 'none' }
  /** Some servers would read the host as one with routes of its own. */
  | { readonly kind: 'host' }
  | {
      readonly kind: 'ambiguous'
      /** For the log. */
      readonly reason: string
      /** For the client; of a closed set. */
      readonly detail: string
    }

export interface RouteTable<Upstream> {
  readonly routes: readonly Route<Upstream>[]
  readonly groups: readonly RouteGroup<Upstream>[]
  readonly ambiguityIndex: AmbiguityIndex<Upstream>
  /**
   * The longest prefix of whole segments wins; for the same prefix, a route for this host before one with a wildcard
   * for it, a longer wildcard before a shorter one, and last one for any; of routes that share both, one that names the
   * method before one that allows all.
   */
  match(host: string, target: RequestTarget, method: string): RouteMatch<Upstream>
}

/** Built once; matching then costs at most one look-up for each segment of the longest prefix. */
export function createRouteTable<Upstream>(routes: readonly Route<Upstream>[]): RouteTable<Upstream> {
  const groups = groupRoutes(routes)
  const hosts = createHostLookup(
    new Map(
      [...Map.groupBy(groups, ({ host }) => host)].map(([host, ofHost]) => [host, new PrefixIndex(ofHost)]),
    ),
  )
  const depthMax = routes.reduce((most, { depth }) => Math.max(most, depth), 0)
  const ambiguityIndex = createAmbiguityIndex(groups, (path) => firstSegments(path, depthMax))

  function match(host: string, target: RequestTarget, method: string): RouteMatch<Upstream> {
    const plainName = plainHostName(host)
    if ((plainName !== undefined && hosts.isNamed(plainName)) || hosts.isMisread(host)) return ambiguousHost
    const group = findByPrefix(hosts.valuesFor(host), target.path, depthMax)
    // A path may be open as received, but protected as the backend reads it.
    const other = ambiguityIndex.findConflict({ host, target, method, group })
    if (target.hasEmptySegment && !group?.routes.some(({ passesEmptySegments }) => passesEmptySegments))
      return emptySegmentRejected
    if (other !== undefined) return ambiguousWith(other, target)
    if (group !== undefined) return matchMethod(group, target, method)
    return unsupportedMethods.has(method.toUpperCase()) ? methodNotSupported : noMatch
  }

  return { routes, groups, ambiguityIndex, match }
}

/** The error for a request that no route has, whatever its method. */
export function matchError(mismatch: Mismatch): GatehouseError {
  switch (mismatch.kind) {
    case 'none':
      return sharedError('route-not-found')
    case 'host':
      return ambiguousHostError()
    case 'ambiguous':
      return sharedError('path-ambiguous', mismatch.detail)
    default:
      return mismatch satisfies never
  }
}

/** A path that a route refuses because a case-insensitive backend would match another route. */
interface CaseRefusal {
  readonly route: string
  readonly path: string
  readonly other: string
}

/** An example for each route without `caseSensitive` that has another below it. */
export function findCaseRefusals({ groups, ambiguityIndex }: RouteTable<unknown>): readonly CaseRefusal[] {
  const folded = groups.map((group) => ({ group, prefix: foldCase(group.prefix) }))
  return groups
    .filter((group) => ambiguityIndex.hasConflicts(group))
    .flatMap((group) => {
      const start = `${foldCase(group.prefix)}/`
      const below = folded.find(
        (other) => other.prefix.startsWith(start) && hostsOverlap(other.group.host, group.host),
      )?.group
      const [inner] = below?.routes ?? []
      const path = below && otherCase(below.prefix, group.prefix.length)
      if (!inner || path === undefined) return []
      return group.routes
        .filter(({ isCaseSensitive }) => !isCaseSensitive)
        .map(({ name }) => ({ route: name, path, other: inner.name }))
    })
}

/** The path with the case of its first letter from an index on swapped; undefined = there is no letter. */
function otherCase(path: string, from: number): string | undefined {
  const at = path.slice(from).search(/[a-z]/i)
  if (at === -1) return undefined
  const letter = path.charAt(from + at)
  const other = letter === letter.toUpperCase() ? letter.toLowerCase() : letter.toUpperCase()
  return `${path.slice(0, from + at)}${other}${path.slice(from + at + 1)}`
}

const noMatch = { kind: 'none' } as const
const ambiguousHost = { kind: 'host' } as const
const methodNotSupported = { kind: 'method', allowed: [], onlyRoute: undefined } as const
const encodedSlashRejected = {
  kind: 'ambiguous',
  reason: 'the route rejects encoded slashes',
  detail: pathFaults.encodedSlash,
} as const
const emptySegmentRejected = {
  kind: 'ambiguous',
  reason: 'it has two slashes in a row, and no route passes empty segments there',
  detail: pathFaults.emptySegment,
} as const

function ambiguousWith({ prefix, routes }: RouteGroup<unknown>, { path }: RequestTarget) {
  const names = routes.map(({ name }) => `"${name}"`).join(', ')
  const reason = `a backend that ignores case, decodes escapes, strips path parameters or merges slashes would read it as a path of ${names} (${prefix || '/'})`
  return { kind: 'ambiguous', reason, detail: otherRouteDetail(path) } as const
}

/** These methods concern the connection to the gateway itself, and are never forwarded. */
const unsupportedMethods = new Set(['TRACE', 'CONNECT'])

/**
 * The route for a method; undefined = none allows it. Methods are case-sensitive (RFC 9110 9.1), but Flask, Django and
 * others read `delete` as DELETE: such a method has a route only if DELETE leads to the same one.
 */
function routeForMethod<Upstream>(group: RouteGroup<Upstream>, method: string): Route<Upstream> | undefined {
  if (method === 'GET' || method === 'POST') return routeFor(group, method)
  const capitals = method.toUpperCase()
  if (unsupportedMethods.has(capitals)) return undefined
  const route = routeFor(group, method)
  return capitals === method || routeFor(group, capitals) === route ? route : undefined
}

function matchMethod<Upstream>(
  group: RouteGroup<Upstream>,
  target: RequestTarget,
  method: string,
): RouteMatch<Upstream> {
  const { routes } = group
  const route = routeForMethod(group, method)
  if (target.hasEncodedSlash && !routes.some(({ passesEncodedSlash }) => passesEncodedSlash))
    return encodedSlashRejected
  if (route === undefined) {
    const onlyRoute = routes.length === 1 ? routes[0] : undefined
    return { kind: 'method', allowed: allowedMethods(routes), onlyRoute }
  }
  if (target.hasEmptySegment && !route.passesEmptySegments) return emptySegmentRejected
  return target.hasEncodedSlash && !route.passesEncodedSlash ? encodedSlashRejected : { kind: 'route', route }
}

/** The part of a path that a prefix can match: a path of thousands of segments must not cost thousands of look-ups. */
function firstSegments(path: string, count: number): string {
  let end = 0
  for (let segments = 0; segments <= count; segments++) {
    end = path.indexOf('/', end + 1)
    if (end === -1) return path
  }
  return path.slice(0, end)
}

function allowedMethods(routes: readonly Route<unknown>[]): readonly string[] {
  return [...new Set(routes.flatMap(({ methods }) => [...(methods ?? standardMethods)]))].toSorted()
}
