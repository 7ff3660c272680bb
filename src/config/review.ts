import { isRecord } from '#platform/json.ts'
import type { Path } from './problem.ts'
import type { SecretReference } from './schema/node.ts'
import type { ConfigTree } from './schema/schema.ts'
import type { SecretResult } from './secrets.ts'
import type { Finding, Validation } from './validate.ts'

/** The input of rules that span several options: the tree, and a way to report problems. */
export interface Review {
  readonly tree: ConfigTree
  /** Whether the schema found no problem at, above or below a path: only then may a rule use its value. */
  isValid(path: Path): boolean
  /** Whether an option of a section was written, whatever its value, rather than set by default. */
  isWritten(section: keyof ConfigTree, name: string): boolean
  /** Whether a map or list has that form, even if something below it is invalid, so that a rule may iterate over it. */
  hasValidShape(path: Path): boolean
  report(path: Path, message: string, at?: Finding['at']): void
  /** The text of a secret; undefined, and reported, if it cannot be read. @param creationHint added if it is missing */
  secret(path: Path, reference: SecretReference, creationHint?: string): string | undefined
  /** Like `secret`, but a missing file or variable is not reported. */
  secretIfPresent(path: Path, reference: SecretReference): string | undefined
}

/** A review of a validated tree; what its rules report is added to `findings`. */
export function createReview(
  { tree, findings: fromSchema, written }: Validation,
  readSecret: (reference: SecretReference) => SecretResult,
): Review & { readonly findings: readonly Finding[] } {
  const findings: Finding[] = [...fromSchema]
  const invalidPaths = createPathTree(fromSchema.map(({ path }) => path))

  function report(path: Path, message: string, at: Finding['at'] = 'value'): void {
    findings.push({ path, message, at })
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
    isValid: (path) => !invalidPaths.isAtOrAbove(path) && !invalidPaths.isBelow(path),
    isWritten: (section, name) => {
      const options = written[section]
      return isRecord(options) && Object.hasOwn(options, name)
    },
    hasValidShape: (path) => !invalidPaths.isAtOrAbove(path),
    report,
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

/** Whether a path is the same as another, or above it. */
export function isPathPrefix(prefix: Path, path: Path): boolean {
  return prefix.length <= path.length && prefix.every((part, index) => part === path[index])
}
