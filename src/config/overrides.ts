import { parse } from 'yaml'
import type { Path, Source } from './problem.ts'
import { isPlainMap } from './read.ts'
import type { SchemaNode } from './schema/fields.ts'
import { childSchema, schemaAt } from './schema/lookup.ts'
import { configSchema } from './schema/schema.ts'

/** One option set outside the file. */
export interface Override {
  readonly path: Path
  readonly value: unknown
  readonly source: Source
}

const prefix = 'GATEHOUSE__'

/**
 * Options from the environment: `GATEHOUSE__LISTEN__PORT=0` is `listen.port`. Names are compared without
 * case and underscores (`SEALINGKEY`, `SEALING_KEY`); numbers index lists; values are YAML.
 */
export function environmentOverrides(
  env: Readonly<Record<string, string | undefined>>,
  tree: unknown,
): Override[] {
  return Object.entries(env).flatMap(([name, text]) => {
    if (!name.startsWith(prefix) || text === undefined) return []
    const path = resolveNames(name.slice(prefix.length).split('__'), tree)
    return [{ path, value: parseValue(text, schemaAt(path)), source: { kind: 'env', name } }]
  })
}

/** Options from the command line: `--set listen.port=0`, `--set 'routes[0].auth=any'`. */
export function flagOverrides(settings: readonly string[]): Override[] {
  return settings.map((setting) => {
    const [name = '', ...rest] = setting.split('=')
    const path = name
      .split(/[.[\]]+/)
      .filter((part) => part !== '')
      .map(indexOrName)
    return { path, value: parseValue(rest.join('='), schemaAt(path)), source: { kind: 'flag', text: name } }
  })
}

/** A new tree with the overrides laid over it, later ones over earlier ones. */
export function applyOverrides(
  tree: Record<string, unknown>,
  overrides: readonly Override[],
): Record<string, unknown> {
  const result = structuredClone(tree)
  for (const { path, value } of overrides) setAt(result, path, value)
  return result
}

function resolveNames(names: readonly string[], tree: unknown): Path {
  const path: (string | number)[] = []
  let schema: SchemaNode | undefined = configSchema
  let written: unknown = tree
  for (const name of names) {
    const part = resolveName(name, schema, written)
    path.push(part)
    schema = schema && childSchema(schema, part)
    written = memberOf(written, part)
  }
  return path
}

function resolveName(name: string, schema: SchemaNode | undefined, written: unknown): string | number {
  if (/^\d+$/.test(name)) return Number(name)
  const wanted = fold(name)
  const known = [
    ...Object.keys(schema?.properties ?? {}),
    ...(schema?.anyOf ?? []).flatMap((option) => Object.keys(option.properties ?? {})),
    ...(isPlainMap(written) ? Object.keys(written) : []),
  ]
  return known.find((candidate) => fold(candidate) === wanted) ?? name.toLowerCase()
}

function fold(name: string): string {
  return name.replaceAll(/[_-]/g, '').toLowerCase()
}

function indexOrName(part: string): string | number {
  return /^\d+$/.test(part) ? Number(part) : part
}

function parseValue(text: string, schema: SchemaNode | undefined): unknown {
  if (schema?.type === 'string') return text
  try {
    return parse(text)
  } catch {
    return text
  }
}

function memberOf(value: unknown, part: string | number): unknown {
  if (Array.isArray(value)) return value[Number(part)]
  return isPlainMap(value) ? value[part] : undefined
}

function setAt(tree: Record<string, unknown>, path: Path, value: unknown): void {
  let place: Record<string, unknown> | unknown[] = tree
  for (const [index, part] of path.entries()) {
    const isLast = index === path.length - 1
    const next: unknown = isLast
      ? value
      : (memberOf(place, part) ?? (typeof path[index + 1] === 'number' ? [] : {}))
    // defineProperty: a part named __proto__ must become an unknown option, not a prototype.
    Object.defineProperty(place, part, { value: next, configurable: true, enumerable: true, writable: true })
    if (isLast) return
    if (!isPlainMap(next) && !Array.isArray(next)) return
    place = next
  }
}
