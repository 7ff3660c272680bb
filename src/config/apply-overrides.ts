import { isRecord } from '#platform/json.ts'
import type { Override } from './overrides.ts'
import { formatPath, formatSource, isPathPrefix, type Path, type Problem, valueAt } from './problem.ts'

/**
 * A new tree with the overrides applied, later ones over earlier ones. Environment variables have no order: two of them
 * for one option, or for a section and an option in it, are an error, as in the file.
 * @returns the tree, the overrides that were applied, and why the others were not: none is silently ignored
 */
export function applyOverrides(tree: Record<string, unknown>, overrides: readonly Override[]) {
  const result = structuredClone(tree)
  const applied: Override[] = []
  const problems: Problem[] = []
  for (const override of overrides) {
    const message = conflictProblem(override, applied) ?? setAt(result, override)
    if (message === undefined) applied.push(override)
    else problems.push({ source: override.source, path: override.path, message })
  }
  return { tree: result, applied, problems }
}

function conflictProblem({ source, path }: Override, applied: readonly Override[]): string | undefined {
  if (source.kind !== 'env') return undefined
  const conflicts = (other: Override) =>
    other.source.kind === 'env' && (isPathPrefix(other.path, path) || isPathPrefix(path, other.path))
  const other = applied.find(conflicts)
  if (!other) return undefined
  const name = formatSource(other.source)
  if (other.path.length === path.length) return `is already set by ${name}`
  return other.path.length < path.length
    ? `is in ${formatPath(other.path)}, which ${name} sets as a whole: set it there`
    : `has an option that ${name} sets, ${formatPath(other.path)}: set it here`
}

/** @returns what is wrong, if the tree has no such path */
function setAt(tree: Record<string, unknown>, { path, value }: Override): string | undefined {
  if (path.length === 0 || path.includes('')) return 'does not name an option'
  let container: unknown = tree
  for (const [index, part] of path.entries()) {
    const problem = pathPartProblem(container, part)
    if (problem !== undefined) return problem
    // The cast is sound: only a map or a list can contain this part.
    const map = container as Record<string | number, unknown>
    const isLast = index === path.length - 1
    const next = isLast ? value : (valueAt(map, [part]) ?? emptyContainerFor(path[index + 1]))
    // defineProperty: a part named __proto__ must become an unknown option, not a prototype.
    Object.defineProperty(map, part, { value: next, configurable: true, enumerable: true, writable: true })
    container = next
  }
  return undefined
}

function pathPartProblem(container: unknown, part: Path[number]): string | undefined {
  if (Array.isArray(container)) {
    if (typeof part !== 'number') return 'an item of a list is identified by its index, counted from 0'
    return part > container.length ? `the next index of the list is ${container.length}` : undefined
  }
  return isRecord(container) ? undefined : 'is below an option that is not a map or list'
}

function emptyContainerFor(nextPart: Path[number] | undefined): unknown {
  return typeof nextPart === 'number' ? [] : {}
}
