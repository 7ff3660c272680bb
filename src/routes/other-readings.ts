import { type Place, routeFor } from './place.ts'
import { foldCase, readingsOf } from './readings.ts'
import type { Target } from './target.ts'

/** A request, and the place that its path matches as it was sent. */
export interface Found<Upstream> {
  readonly host: string
  readonly target: Target
  readonly method: string
  /** undefined = none. */
  readonly place: Place<Upstream> | undefined
}

export interface OtherReadings<Upstream> {
  /**
   * The place, other than the one found, that a backend may read in the path (readings.ts), with regard to case or
   * without; undefined where every reading leads to the same. Whether a backend folds case is said by the route that
   * is found, or if there is none, by the one of the other place.
   */
  find(found: Found<Upstream>): Place<Upstream> | undefined
  /** Places whose own prefix can be read as that of this one: no request to either is unambiguous. */
  sameAs(place: Place<Upstream>): readonly Place<Upstream>[]
  /** Whether there are places below this one, or such as `sameAs` has: else every reading of its paths is its own. */
  hasOthers(place: Place<Upstream>): boolean
}

/** The places of each host (undefined = any), by a reading of their prefix. */
type Shelves<Upstream> = Map<string | undefined, Map<string, Place<Upstream>[]>>

/**
 * Built once. Paths of a place without others cost nothing, and of the rest a path in lower case without escapes and
 * parameters next to nothing, as it has one reading only.
 * @param firstSegments the part of a path that a prefix can match
 */
export function createOtherReadings<Upstream>(
  places: readonly Place<Upstream>[],
  firstSegments: (path: string) => string,
): OtherReadings<Upstream> {
  const exact: Shelves<Upstream> = new Map()
  const folded: Shelves<Upstream> = new Map()
  const above = new Set<string>()
  const byReading = Map.groupBy(places, ({ prefix }) => foldCase(readingOf(prefix)))
  for (const [reading, alike] of byReading) {
    addAbove(above, reading)
    for (const place of alike) {
      put(exact, readingOf(place.prefix), place)
      put(folded, reading, place)
    }
  }
  const crowded = new Set(
    [...byReading].flatMap(([reading, alike]) =>
      above.has(reading) || alike.some(({ prefix }) => prefix !== alike[0]?.prefix) ? alike : [],
    ),
  )
  const isPlain = places.every(({ prefix }) => foldCase(readingOf(prefix)) === prefix)

  function find(found: Found<Upstream>): Place<Upstream> | undefined {
    const { target, place } = found
    if (place !== undefined && !crowded.has(place)) return undefined
    if (isPlain && !mayReadOtherwise.test(target.path)) return undefined
    for (const reading of readingsOf(target.path)) {
      const path = firstSegments(reading)
      const other = findOn(exact, path, found) ?? findFolded(path, found)
      if (other !== undefined) return other
    }
    return undefined
  }

  function findFolded(path: string, found: Found<Upstream>): Place<Upstream> | undefined {
    const { place, method } = found
    if (place !== undefined && tellsCase(place, method)) return undefined
    const other = findOn(folded, foldCase(path), found)
    return place === undefined && other !== undefined && tellsCase(other, method) ? undefined : other
  }

  function sameAs(place: Place<Upstream>): readonly Place<Upstream>[] {
    const isSensitive = place.routes.every((route) => route.isCaseSensitive)
    const reading = readingOf(place.prefix)
    const alike = byReading.get(foldCase(reading)) ?? []
    return alike.filter(
      ({ host, prefix }) =>
        prefix !== place.prefix &&
        (host === place.host || host === undefined || place.host === undefined) &&
        (!isSensitive || readingOf(prefix) === reading),
    )
  }

  return { find, sameAs, hasOthers: (place) => crowded.has(place) }
}

const mayReadOtherwise = /[A-Z%;]/

/** A prefix has no parameters, and so one reading. */
function readingOf(prefix: string): string {
  return readingsOf(prefix)[0] ?? ''
}

function put<Upstream>(shelves: Shelves<Upstream>, reading: string, place: Place<Upstream>): void {
  const shelf = shelves.get(place.host) ?? new Map<string, Place<Upstream>[]>()
  shelves.set(place.host, shelf)
  const alike = shelf.get(reading)
  if (alike === undefined) shelf.set(reading, [place])
  else alike.push(place)
}

/** Adds the prefixes above this one; what is above one that is there is there too. */
function addAbove(above: Set<string>, prefix: string): void {
  for (let end = prefix.lastIndexOf('/'); end !== -1; end = prefix.lastIndexOf('/', end - 1)) {
    const next = prefix.slice(0, end)
    if (above.has(next)) return
    above.add(next)
    if (end === 0) return
  }
}

/** The longest prefix of a reading decides: whatever else than the place found has it. */
function findOn<Upstream>(
  shelves: Shelves<Upstream>,
  path: string,
  { host, place }: Found<Upstream>,
): Place<Upstream> | undefined {
  const ofHost = shelves.get(host)
  const ofAnyHost = shelves.get(undefined)
  let prefix = path
  for (;;) {
    const named = ofHost?.get(prefix) ?? []
    // A place of this host hides the one of any host that has the very same prefix.
    const unnamed = (ofAnyHost?.get(prefix) ?? []).filter((any) =>
      named.every((one) => one.prefix !== any.prefix),
    )
    const alike = [...named, ...unnamed]
    if (alike.length > 0) return alike.find((one) => one !== place)
    if (prefix === '') return undefined
    prefix = prefix.slice(0, Math.max(prefix.lastIndexOf('/'), 0))
  }
}

function tellsCase(place: Place<unknown>, method: string): boolean {
  return routeFor(place, method)?.isCaseSensitive ?? place.routes.every((route) => route.isCaseSensitive)
}
