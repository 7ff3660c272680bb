import { isRecord } from '#platform/json.ts'
import { type Finding, type Path, valueAt } from '../problem.ts'
import type { SecretReference, SecretResult } from './node.ts'

/**
 * The input of rules that span several options: the tree, and a way to report problems. A rule names the sections that
 * it reads; the review of the whole config has them all.
 */
export interface Review<Tree> {
  readonly tree: Tree
  /** Whether the schema found no problem at, above or below a path: only then may a rule use its value. */
  isValid(path: Path): boolean
  /** Whether an option of a section was written, whatever its value, rather than set by default. */
  isWritten(section: keyof Tree & string, name: string): boolean
  /** Whether a map or list has that form, even if something below it is invalid, so that a rule may iterate over it. */
  hasValidShape(path: Path): boolean
  report(path: Path, message: string, at?: Finding['at']): void
  /** Reports what is wrong with a value, if the schema finds nothing. @param problemOf undefined = nothing is wrong */
  check(path: Path, problemOf: () => string | undefined, at?: Finding['at']): void
  /** Reports each valid text that is equal to one before it. */
  checkUnique(paths: readonly Path[], messageOf: (text: string) => string): void
  /** The text of a secret; undefined, and reported, if it cannot be read. @param creationHint added if it is missing */
  secret(path: Path, reference: SecretReference, creationHint?: string): string | undefined
  /** Like `secret`, but a missing file or variable is not reported. */
  secretIfPresent(path: Path, reference: SecretReference): string | undefined
}

/** What the schema says of a config. */
export interface Validation<Tree> {
  /** The tree with every default filled in; only valid if there are no findings. */
  readonly tree: Tree
  readonly findings: readonly Finding[]
  /** The tree without defaults. */
  readonly written: Readonly<Record<string, unknown>>
}

/** A review of a validated tree; what its rules report is added to `findings`. */
export function createReview<Tree>(
  { tree, findings: fromSchema, written }: Validation<Tree>,
  readSecret: (reference: SecretReference) => SecretResult,
): Review<Tree> & { readonly findings: readonly Finding[] } {
  const findings: Finding[] = [...fromSchema]
  const invalidPaths = createPathTree(fromSchema.map(({ path }) => path))

  function report(path: Path, message: string, at: Finding['at'] = 'value'): void {
    findings.push({ path, message, at })
  }

  const isValid = (path: Path) => !invalidPaths.isAtOrAbove(path) && !invalidPaths.isBelow(path)

  function check(path: Path, problemOf: () => string | undefined, at?: Finding['at']): void {
    const problem = isValid(path) ? problemOf() : undefined
    if (problem !== undefined) report(path, problem, at)
  }

  function checkUnique(paths: readonly Path[], messageOf: (text: string) => string): void {
    const seen = new Set<string>()
    for (const path of paths.filter(isValid)) {
      const text = String(valueAt(tree, path))
      if (seen.has(text)) report(path, messageOf(text))
      seen.add(text)
    }
  }

  function secret(path: Path, reference: SecretReference, creationHint?: string): string | undefined {
    const found = readSecret(reference)
    if ('value' in found) return found.value
    report(path, found.isMissing && creationHint ? `${found.problem}; ${creationHint}` : found.problem)
    return undefined
  }

  function secretIfPresent(path: Path, reference: SecretReference): string | undefined {
    const found = readSecret(reference)
    return 'isMissing' in found && found.isMissing ? undefined : secret(path, reference)
  }

  return {
    tree,
    findings,
    isValid,
    isWritten: (section, name) => {
      const options = written[section]
      return isRecord(options) && Object.hasOwn(options, name)
    },
    hasValidShape: (path) => !invalidPaths.isAtOrAbove(path),
    report,
    check,
    checkUnique,
    secret,
    secretIfPresent,
  }
}

interface PathNode {
  isEnd: boolean
  readonly next: Map<Path[number], PathNode>
}

/** A tree of paths, for fast look-ups, as there may be a path and a look-up for each option. */
function createPathTree(paths: readonly Path[]) {
  const root: PathNode = { isEnd: false, next: new Map() }
  for (const path of paths) {
    let node = root
    for (const part of path) {
      const next: PathNode = node.next.get(part) ?? { isEnd: false, next: new Map() }
      node.next.set(part, next)
      node = next
    }
    node.isEnd = true
  }

  /** The nodes along a path, as far as they exist. */
  function nodesAlong(path: Path): readonly PathNode[] {
    const branches = [root]
    for (const part of path) {
      const next = branches.at(-1)?.next.get(part)
      if (!next) break
      branches.push(next)
    }
    return branches
  }

  return {
    isAtOrAbove: (path: Path) => nodesAlong(path).some(({ isEnd }) => isEnd),
    isBelow: (path: Path) =>
      nodesAlong(path).length > path.length && (nodesAlong(path).at(-1)?.next.size ?? 0) > 0,
  }
}
