import type { Path } from './problem.ts'
import type { SecretReference } from './schema/fields.ts'
import type { ConfigTree } from './schema/schema.ts'
import type { FoundSecret } from './secrets.ts'
import type { Finding, Validation } from './validate.ts'

/** What the rules that span several options work with: they see the tree, and report what is wrong. */
export interface Review {
  readonly tree: ConfigTree
  /** Whether the schema found nothing wrong at, above or below a path: only then may it be looked at. */
  isSound(path: Path): boolean
  /** Whether a map or list is one, whatever may be wrong below: then its members may be gone through. */
  isShaped(path: Path): boolean
  report(path: Path, message: string, at?: Finding['at']): void
  /** The text of a secret; reported, with the way to one that is absent, and undefined where it cannot be had. */
  secret(path: Path, reference: SecretReference, howToMake?: string): string | undefined
  /** The same, but a file or variable that is not there is no fault. */
  secretIfPresent(path: Path, reference: SecretReference): string | undefined
}

/** A review of a validated tree; what its rules report is added to `findings`. */
export function createReview(
  { tree, findings: fromSchema }: Validation,
  readSecret: (reference: SecretReference) => FoundSecret,
): Review & { readonly findings: readonly Finding[] } {
  const findings: Finding[] = [...fromSchema]

  function report(path: Path, message: string, at: Finding['at'] = 'value'): void {
    findings.push({ path, message, at })
  }

  function secret(path: Path, reference: SecretReference, howToMake?: string): string | undefined {
    const found = readSecret(reference)
    if ('value' in found) return found.value
    report(path, found.isAbsent && howToMake ? `${found.problem}; ${howToMake}` : found.problem)
    return undefined
  }

  function secretIfPresent(path: Path, reference: SecretReference): string | undefined {
    const found = readSecret(reference)
    return 'isAbsent' in found && found.isAbsent ? undefined : secret(path, reference)
  }

  return {
    tree,
    findings,
    isSound: (path) =>
      !fromSchema.some((finding) => isSameOrAbove(finding.path, path) || isSameOrAbove(path, finding.path)),
    isShaped: (path) => !fromSchema.some((finding) => isSameOrAbove(finding.path, path)),
    report,
    secret,
    secretIfPresent,
  }
}

/** Whether one path is the other, or lies above it. */
export function isSameOrAbove(above: Path, path: Path): boolean {
  return above.length <= path.length && above.every((part, index) => part === path[index])
}
