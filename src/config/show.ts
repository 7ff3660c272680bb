import { isRecord } from '#platform/json.ts'
import { isCredentialField, secretPlaceholder } from '#platform/secrets/hide-secrets.ts'
import type { ConfigReadResult } from './load.ts'
import { formatPath, formatSource, type Path } from './problem.ts'
import { schemaAt } from './schema/schema.ts'

/** One option with its effective value. */
interface EffectiveOption {
  readonly path: string
  readonly value: unknown
  /** `config/gateway.yaml:12:5`, `$GATEHOUSE__…`, `--set …` or `default`. */
  readonly source: string
}

/** Every option with its effective value, and its source; secrets are shown as `[secret]`. */
export function showConfig({ tree, sourceOf }: ConfigReadResult): EffectiveOption[] {
  return optionLeaves(tree).map(({ path, value, isSecret }) => ({
    path: formatPath(path),
    value: isSecret ? secretPlaceholder : value,
    source: formatSource(sourceOf(path)),
  }))
}

/** An option without options below it. */
interface OptionLeaf {
  readonly path: Path
  readonly value: unknown
  /** Whether it refers to a secret, or looks like one that was written as text. */
  readonly isSecret: boolean
}

/** Every option with a value: a reference to a secret is one, and so is a list of texts or numbers. */
export function optionLeaves(value: unknown, path: Path = []): readonly OptionLeaf[] {
  if (holdsSecret(value, path)) return [{ path, value, isSecret: true }]
  if (isRecord(value) && Object.keys(value).length > 0) {
    return Object.entries(value).flatMap(([name, member]) => optionLeaves(member, [...path, name]))
  }
  if (Array.isArray(value) && value.some((member) => typeof member === 'object')) {
    return value.flatMap((member, index) => optionLeaves(member, [...path, index]))
  }
  return [{ path, value, isSecret: false }]
}

/** For an option that accepts either a reference or a text, the value decides. */
function holdsSecret(value: unknown, path: Path): boolean {
  const schema = schemaAt(path)
  const acceptsSecret = schema?.secret === true || schema?.anyOf?.some(({ secret }) => secret) === true
  if (!acceptsSecret) return false
  return typeof value === 'string' ? isCredentialField(String(path.at(-1)), value) : isRecord(value)
}
