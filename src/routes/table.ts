import { createOtherReadings, type OtherReadings } from './other-readings.ts'
import { type Place, placesOf, routeFor } from './place.ts'
import { type Route, usualMethods } from './route.ts'
import type { Target } from './target.ts'

export type Match<Upstream> =
  | { readonly kind: 'route'; readonly route: Route<Upstream> }
  | { readonly kind: 'none' }
  | {
      readonly kind: 'ambiguous'
      /** Why, in words for the operator. */
      readonly reason: string
    }
  | {
      readonly kind: 'method'
      readonly allowed: readonly string[]
      /** The route of the path, if it is the only one. */
      readonly only: Route<Upstream> | undefined
    }

export interface RouteTable<Upstream> {
  readonly routes: readonly Route<Upstream>[]
  readonly places: readonly Place<Upstream>[]
  readonly otherReadings: OtherReadings<Upstream>
  /**
   * The longest prefix of whole segments wins, for the same prefix a route for this host before one for any; of routes
   * that share both, one that names the method before one that takes all.
   */
  match(host: string, target: Target, method: string): Match<Upstream>
}

/** Builds the table once; a look-up then costs one map probe for each segment of the path. */
export function createRouteTable<Upstream>(routes: readonly Route<Upstream>[]): RouteTable<Upstream> {
  const places = placesOf(routes)
  const byHost = new Map(
    [...Map.groupBy(places, ({ host }) => host)].map(([host, ofHost]) => [
      host,
      new Map(ofHost.map((place) => [place.prefix, place])),
    ]),
  )
  const anyHost = byHost.get(undefined) ?? new Map<string, Place<Upstream>>()
  const depthMax = routes.reduce((most, { depth }) => Math.max(most, depth), 0)
  const otherReadings = createOtherReadings(places, (path) => firstSegments(path, depthMax))

  function match(host: string, target: Target, method: string): Match<Upstream> {
    const place = findPlace(byHost.get(host), anyHost, firstSegments(target.path, depthMax))
    // A path may be open as it was sent, but protected as the backend reads it.
    const other = otherReadings.find({ host, target, method, place })
    if (other !== undefined) return ambiguousWith(other)
    if (place !== undefined) return matchWithin(place, target, method)
    return neverTaken.has(method) ? takenNowhere : none
  }

  return { routes, places, otherReadings, match }
}

const none = { kind: 'none' } as const
const takenNowhere = { kind: 'method', allowed: [], only: undefined } as const
const rejected = { kind: 'ambiguous', reason: 'the route rejects encoded slashes' } as const

function ambiguousWith({ prefix, routes }: Place<unknown>) {
  const names = routes.map(({ name }) => `"${name}"`).join(', ')
  const reason = `a backend that folds case, decodes escapes or takes off parameters would read a path of ${names} (${prefix || '/'})`
  return { kind: 'ambiguous', reason } as const
}

/** These methods are about the connection to the gateway itself, and are never forwarded. */
const neverTaken = new Set(['TRACE', 'CONNECT'])

function matchWithin<Upstream>(place: Place<Upstream>, target: Target, method: string): Match<Upstream> {
  const { routes } = place
  const route = neverTaken.has(method) ? undefined : routeFor(place, method)
  if (target.hasEncodedSlash && !routes.some(({ passesEncodedSlash }) => passesEncodedSlash)) return rejected
  if (route === undefined) {
    const only = routes.length === 1 ? routes[0] : undefined
    return { kind: 'method', allowed: allowedMethods(routes), only }
  }
  return target.hasEncodedSlash && !route.passesEncodedSlash ? rejected : { kind: 'route', route }
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

function allowedMethods(routes: readonly Route<unknown>[]): readonly string[] {
  return [...new Set(routes.flatMap(({ methods }) => [...(methods ?? usualMethods)]))].toSorted()
}
