import { createHostLookup, hostsOverlap } from './hosts.ts'
import { comparedPaths, foldCase, normalizedPaths, type RequestTarget } from './request-target.ts'
import { type RouteGroup, routeFor } from './route.ts'

/** A request, and the group that its literal path matches. */
interface RouteLookup<Upstream> {
  readonly host: string
  readonly target: RequestTarget
  readonly method: string
  /** undefined = none. */
  readonly group: RouteGroup<Upstream> | undefined
}

export interface AmbiguityIndex<Upstream> {
  /**
   * Another group that a backend may resolve the path to (normalizedPaths in request-target.ts), case-sensitively or
   * not; undefined if every normalized path leads to the same group. Whether the backend ignores case is said by the
   * route that was matched, or, if there is none, by the route of the other group.
   */
  findConflict(lookup: RouteLookup<Upstream>): RouteGroup<Upstream> | undefined
  /** Groups whose prefix normalizes to that of this group: every request to any of them is ambiguous. */
  findEquivalents(group: RouteGroup<Upstream>): readonly RouteGroup<Upstream>[]
  /** Whether there is a longer or an equivalent prefix; otherwise every normalized path stays in this group. */
  hasConflicts(group: RouteGroup<Upstream>): boolean
}

/** Groups by host (undefined = any), then by normalized prefix. */
type GroupsByHost<Upstream> = Map<string | undefined, Map<string, RouteGroup<Upstream>[]>>

/**
 * Built once. Paths are normalized only if their group has conflicts and they may have another normalized form.
 * @param firstSegments the part of a path that a prefix can match
 */
export function createAmbiguityIndex<Upstream>(
  groups: readonly RouteGroup<Upstream>[],
  firstSegments: (path: string) => string,
): AmbiguityIndex<Upstream> {
  const exact: GroupsByHost<Upstream> = new Map()
  const folded: GroupsByHost<Upstream> = new Map()
  const ancestors = new Set<string>()
  const byNormalized = Map.groupBy(groups, ({ prefix }) => foldCase(normalizePrefix(prefix)))
  for (const [normalized, equivalents] of byNormalized) {
    addAncestors(ancestors, normalized)
    for (const group of equivalents) {
      addGroup(exact, normalizePrefix(group.prefix), group)
      addGroup(folded, normalized, group)
    }
  }
  const conflicting = new Set(
    [...byNormalized].flatMap(([normalized, equivalents]) =>
      ancestors.has(normalized) || equivalents.some(({ prefix }) => prefix !== equivalents[0]?.prefix)
        ? equivalents
        : [],
    ),
  )
  const exactOf = createHostLookup(exact)
  const foldedOf = createHostLookup(folded)
  const arePrefixesNormalized = groups.every(({ prefix }) => foldCase(normalizePrefix(prefix)) === prefix)

  function findConflict(lookup: RouteLookup<Upstream>): RouteGroup<Upstream> | undefined {
    const { target, group } = lookup
    if (group !== undefined && !conflicting.has(group)) return undefined
    if (arePrefixesNormalized && !mayNeedNormalizing.test(target.path)) return undefined
    for (const normalized of comparedPaths(target, group?.prefix ?? '')) {
      const path = firstSegments(normalized)
      const other = findIn(exactOf.valuesFor(lookup.host), path, group) ?? findFolded(path, lookup)
      if (other !== undefined) return other
    }
    return undefined
  }

  function findFolded(path: string, lookup: RouteLookup<Upstream>): RouteGroup<Upstream> | undefined {
    const { group, method } = lookup
    if (group !== undefined && isCaseSensitiveFor(group, method)) return undefined
    const other = findIn(foldedOf.valuesFor(lookup.host), foldCase(path), group)
    return group === undefined && other !== undefined && isCaseSensitiveFor(other, method) ? undefined : other
  }

  function findEquivalents(group: RouteGroup<Upstream>): readonly RouteGroup<Upstream>[] {
    const isSensitive = group.routes.every((route) => route.isCaseSensitive)
    const normalized = normalizePrefix(group.prefix)
    const equivalents = byNormalized.get(foldCase(normalized)) ?? []
    return equivalents.filter(
      ({ host, prefix }) =>
        prefix !== group.prefix &&
        hostsOverlap(host, group.host) &&
        (!isSensitive || normalizePrefix(prefix) === normalized),
    )
  }

  return { findConflict, findEquivalents, hasConflicts: (group) => conflicting.has(group) }
}

const mayNeedNormalizing = /[A-Z%;]|\/\//

/** A prefix has no parameters, and so one normalized form. */
function normalizePrefix(prefix: string): string {
  return normalizedPaths(prefix)[0] ?? ''
}

function addGroup<Upstream>(
  byHost: GroupsByHost<Upstream>,
  normalized: string,
  group: RouteGroup<Upstream>,
): void {
  const byNormalized = byHost.get(group.host) ?? new Map<string, RouteGroup<Upstream>[]>()
  byHost.set(group.host, byNormalized)
  const equivalents = byNormalized.get(normalized)
  if (equivalents === undefined) byNormalized.set(normalized, [group])
  else equivalents.push(group)
}

/** Adds all ancestors of a prefix, up to one that is present, whose own ancestors are present too. */
function addAncestors(ancestors: Set<string>, prefix: string): void {
  for (let end = prefix.lastIndexOf('/'); end !== -1; end = prefix.lastIndexOf('/', end - 1)) {
    const next = prefix.slice(0, end)
    if (ancestors.has(next)) return
    ancestors.add(next)
    if (end === 0) return
  }
}

/** The longest prefix of a normalized path decides: any other group with that prefix conflicts. */
function findIn<Upstream>(
  ofHost: readonly ReadonlyMap<string, readonly RouteGroup<Upstream>[]>[],
  path: string,
  group: RouteGroup<Upstream> | undefined,
): RouteGroup<Upstream> | undefined {
  let prefix = path
  for (;;) {
    const equivalents: RouteGroup<Upstream>[] = []
    // With the same prefix the group that comes first takes precedence.
    for (const byNormalized of ofHost)
      for (const one of byNormalized.get(prefix) ?? [])
        if (equivalents.every((other) => other.prefix !== one.prefix)) equivalents.push(one)
    if (equivalents.length > 0) return equivalents.find((one) => one !== group)
    if (prefix === '') return undefined
    prefix = prefix.slice(0, Math.max(prefix.lastIndexOf('/'), 0))
  }
}

function isCaseSensitiveFor(group: RouteGroup<unknown>, method: string): boolean {
  return routeFor(group, method)?.isCaseSensitive ?? group.routes.every((route) => route.isCaseSensitive)
}
