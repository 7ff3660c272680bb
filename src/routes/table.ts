import { type Route, usualMethods } from './route.ts'
import type { Target } from './target.ts'

export type Match<Upstream> =
  | { readonly kind: 'route'; readonly route: Route<Upstream> }
  | { readonly kind: 'none' }
  | { readonly kind: 'ambiguous' }
  | {
      readonly kind: 'method'
      readonly allowed: readonly string[]
      /** The route of the path, if it is the only one. */
      readonly only: Route<Upstream> | undefined
    }

/** Routes that share a host and a prefix: the method tells them apart. */
type Place<Upstream> = readonly Route<Upstream>[]

export interface RouteTable<Upstream> {
  readonly routes: readonly Route<Upstream>[]
  /**
   * The longest prefix of whole segments wins, for the same prefix a route for this host before one for any; of routes
   * that share both, one that names the method before one that takes all.
   */
  match(host: string, target: Target, method: string): Match<Upstream>
}

/** Builds the table once; a look-up then costs one map probe for each segment of the path. */
export function createRouteTable<Upstream>(routes: readonly Route<Upstream>[]): RouteTable<Upstream> {
  const byHost = new Map<string | undefined, Map<string, Place<Upstream>>>()
  const depthMax = routes.reduce((most, { depth }) => Math.max(most, depth), 0)
  for (const route of routes.toSorted((a, b) => generalityOf(a) - generalityOf(b))) {
    const places = byHost.get(route.host) ?? new Map<string, Place<Upstream>>()
    byHost.set(route.host, places.set(route.prefix, [...(places.get(route.prefix) ?? []), route]))
  }
  const anyHost = byHost.get(undefined) ?? new Map<string, Place<Upstream>>()

  function placeOf(host: string, path: string): Place<Upstream> | undefined {
    return findPlace(byHost.get(host), anyHost, firstSegments(path, depthMax))
  }

  function match(host: string, target: Target, method: string): Match<Upstream> {
    const place = placeOf(host, target.path)
    // A path may be open as it was sent, but protected as the backend reads it.
    if (target.bare !== undefined && placeOf(host, target.bare) !== place) return ambiguous
    if (place !== undefined) return matchWithin(place, target, method)
    return neverTaken.has(method) ? takenNowhere : none
  }

  return { routes, match }
}

const none = { kind: 'none' } as const
const takenNowhere = { kind: 'method', allowed: [], only: undefined } as const
const ambiguous = { kind: 'ambiguous' } as const

/** These methods are about the connection to the gateway itself, and are never forwarded. */
const neverTaken = new Set(['TRACE', 'CONNECT'])

function matchWithin<Upstream>(place: Place<Upstream>, target: Target, method: string): Match<Upstream> {
  const route = neverTaken.has(method) ? undefined : findRoute(place, method)
  if (target.hasEncodedSlash && !place.some(({ passesEncodedSlash }) => passesEncodedSlash)) return ambiguous
  if (route === undefined) {
    const only = place.length === 1 ? place[0] : undefined
    return { kind: 'method', allowed: allowedMethods(place), only }
  }
  return target.hasEncodedSlash && !route.passesEncodedSlash ? ambiguous : { kind: 'route', route }
}

function findRoute<Upstream>(place: Place<Upstream>, method: string): Route<Upstream> | undefined {
  return place.find(({ methods }) => methods === undefined || methods.has(method))
}

/**
 * How general a route's methods are: within a place the most specific comes first. A route that names HEAD comes
 * before one that takes it only because it takes GET, and both before one that takes all.
 */
function generalityOf({ methods }: Route<unknown>): number {
  if (methods === undefined) return 2
  return methods.has('HEAD') && !methods.has('GET') ? 0 : 1
}

/** The part of a path that a prefix can match: thousands of segments must not cost thousands of probes. */
function firstSegments(path: string, count: number): string {
  let end = 0
  for (let segments = 0; segments <= count; segments++) {
    end = path.indexOf('/', end + 1)
    if (end === -1) return path
  }
  return path.slice(0, end)
}

function findPlace<Upstream>(
  ofHost: ReadonlyMap<string, Place<Upstream>> | undefined,
  ofAnyHost: ReadonlyMap<string, Place<Upstream>>,
  path: string,
): Place<Upstream> | undefined {
  let prefix = path.endsWith('/') ? path.slice(0, -1) : path
  for (;;) {
    const place = ofHost?.get(prefix) ?? ofAnyHost.get(prefix)
    if (place !== undefined) return place
    if (prefix === '') return undefined
    prefix = prefix.slice(0, Math.max(prefix.lastIndexOf('/'), 0))
  }
}

function allowedMethods(place: Place<unknown>): readonly string[] {
  return [...new Set(place.flatMap(({ methods }) => [...(methods ?? usualMethods)]))].toSorted()
}
