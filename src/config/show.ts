import { isRecord } from '#platform/json.ts'
import { isCredentialField, secretPlaceholder } from '#platform/secrets/hide-secrets.ts'
import type { ConfigReadResult } from './load.ts'
import { formatPath, formatSource, type Path } from './problem.ts'
import { schemaAt } from './schema/schema.ts'

/** One option with its effective value. */
export interface EffectiveOption {
  readonly path: string
  readonly value: unknown
  /** `config/gateway.yaml:12:5`, `$GATEHOUSE__…`, `--set …` or `default`. */
  readonly source: string
}

/** Every option with its effective value, and its source; secrets are shown as `[secret]`. */
export function showConfig({ tree, sourceOf }: ConfigReadResult): EffectiveOption[] {
  return leaves(tree, []).map(({ path, value }) => ({
    path: formatPath(path),
    value,
    source: formatSource(sourceOf(path)),
  }))
}

interface Leaf {
  readonly path: Path
  readonly value: unknown
}

function leaves(value: unknown, path: Path): Leaf[] {
  if (holdsSecret(value, path)) return [{ path, value: secretPlaceholder }]
  if (isRecord(value) && Object.keys(value).length > 0) {
    return Object.entries(value).flatMap(([name, member]) => leaves(member, [...path, name]))
  }
  if (Array.isArray(value) && value.some((member) => typeof member === 'object')) {
    return value.flatMap((member, index) => leaves(member, [...path, index]))
  }
  return [{ path, value }]
}

/**
 * Whether a value is a reference to a secret, or looks like a secret that was written as text; for an option that
 * accepts either, the value decides.
 */
function holdsSecret(value: unknown, path: Path): boolean {
  const schema = schemaAt(path)
  const acceptsSecret = schema?.secret === true || schema?.anyOf?.some(({ secret }) => secret) === true
  if (!acceptsSecret) return false
  return typeof value === 'string' ? isCredentialField(String(path.at(-1)), value) : isRecord(value)
}
