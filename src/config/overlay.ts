import type { Override } from './overrides.ts'
import { formatSource, type Path, type Problem } from './problem.ts'
import { isPlainMap } from './read.ts'

/** A tree with overrides laid over it. */
export interface Overlay {
  readonly tree: Record<string, unknown>
  /** The overrides that are in the tree. */
  readonly placed: readonly Override[]
  /** Why the others are not in it: an override is never silently ignored. */
  readonly problems: readonly Problem[]
}

/**
 * A new tree with the overrides laid over it, later ones over earlier ones. Environment variables have no order: two
 * of them for one option are an error, as in the file.
 */
export function layOver(tree: Record<string, unknown>, overrides: readonly Override[]): Overlay {
  const result = structuredClone(tree)
  const placed: Override[] = []
  const problems: Problem[] = []
  for (const override of overrides) {
    const message = complainOfTwin(override, placed) ?? setAt(result, override)
    if (message === undefined) placed.push(override)
    else problems.push({ source: override.source, path: override.path, message })
  }
  return { tree: result, placed, problems }
}

function complainOfTwin({ source, path }: Override, placed: readonly Override[]): string | undefined {
  if (source.kind !== 'env') return undefined
  const isTwin = (other: Override) => other.path.join('\n') === path.join('\n') && other.source.kind === 'env'
  const twin = placed.find(isTwin)
  return twin && `is already set by ${formatSource(twin.source)}`
}

/** @returns what is wrong, if the tree has no such place */
function setAt(tree: Record<string, unknown>, { path, value }: Override): string | undefined {
  if (path.length === 0 || path.includes('')) return 'does not name an option'
  let place: unknown = tree
  for (const [index, part] of path.entries()) {
    const complaint = complainOfPart(place, part)
    if (complaint !== undefined) return complaint
    // The cast is sound: a place that can have this part is a map or a list.
    const map = place as Record<string | number, unknown>
    const isLast = index === path.length - 1
    const next = isLast ? value : (ownMember(map, part) ?? emptyFor(path[index + 1]))
    // defineProperty: a part named __proto__ must become an unknown option, not a prototype.
    Object.defineProperty(map, part, { value: next, configurable: true, enumerable: true, writable: true })
    place = next
  }
  return undefined
}

function complainOfPart(place: unknown, part: Path[number]): string | undefined {
  if (Array.isArray(place)) {
    if (typeof part !== 'number') return 'an item of a list is named by its number, counted from 0'
    return part > place.length ? `the next item of the list has number ${place.length}` : undefined
  }
  return isPlainMap(place) ? undefined : 'is below an option that has a value of its own'
}

function ownMember(place: Readonly<Record<string | number, unknown>>, part: Path[number]): unknown {
  return Object.hasOwn(place, part) ? place[part] : undefined
}

function emptyFor(nextPart: Path[number] | undefined): unknown {
  return typeof nextPart === 'number' ? [] : {}
}
