import { parseDocument } from 'yaml'
import { isRecord } from '#platform/json.ts'
import { type Path, type Source, valueAt, type Warning } from './problem.ts'
import type { SchemaNode } from './schema/node.ts'
import { type ConfigTree, childSchema, configSchema, isList, schemaAt } from './schema/schema.ts'
import type { Environment } from './secrets.ts'
import { readTree } from './tree.ts'

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
    const path = toPath(name.split(/[.[\]]+/).filter((part) => part !== ''))
    const source: Source = { kind: 'flag', text: path.length === 0 ? `'${setting}'` : name }
    return { path, value: parseValue(rest.join('='), schemaAt(path)), source }
  })
}

function resolveNames(names: readonly string[], tree: unknown): Path {
  const resolved: string[] = []
  let schema: SchemaNode | undefined = configSchema
  let written: unknown = tree
  for (const name of names) {
    const part = resolveName(name, schema, written)
    resolved.push(part)
    schema = schema && childSchema(schema, part)
    written = valueAt(written, [Array.isArray(written) ? Number(part) : part])
  }
  return toPath(resolved)
}

function resolveName(name: string, schema: SchemaNode | undefined, written: unknown): string {
  const wanted = normalizeName(name)
  const known = [
    ...Object.keys(schema?.properties ?? {}),
    ...(schema?.anyOf ?? []).flatMap((option) => Object.keys(option.properties ?? {})),
    ...(isRecord(written) ? Object.keys(written) : []),
  ]
  return known.find((candidate) => normalizeName(candidate) === wanted) ?? name.toLowerCase()
}

function normalizeName(name: string): string {
  return name.replaceAll(/[_-]/g, '').toLowerCase()
}

/** Digits are an index if the parent is a list; otherwise they are a name, for example of an upstream. */
function toPath(parts: readonly string[]): Path {
  return parts.map((part, index) =>
    /^\d+$/.test(part) && isList(schemaAt(parts.slice(0, index))) ? Number(part) : part,
  )
}

function parseValue(text: string, schema: SchemaNode | undefined): unknown {
  if (schema?.type === 'string') return text
  const { contents, errors } = parseDocument(text, { logLevel: 'error' })
  const { tree, faults } = readTree(contents)
  return errors.length === 0 && faults.length === 0 ? tree : text
}

/** More parts than any option has, as every way of joining them is tried. */
const partsMax = 8

/** Variables that look like options but are not read, as they have one underscore where two are needed. */
export function findMisspelledVariables(env: Environment, tree: ConfigTree): Warning[] {
  return Object.entries(env).flatMap(([name, text]): Warning[] => {
    const [, rest] = /^GATEHOUSE_([^_].*)$/.exec(name) ?? []
    if (rest === undefined || text === undefined || isUnrelated(name, text)) return []
    const parts = rest.split(/_+/)
    if (parts.length > partsMax) return []
    for (const spelling of spellings(parts)) {
      const meant = `GATEHOUSE__${spelling}`
      const [override] = environmentOverrides({ [meant]: text }, tree)
      if (!override || !isOption(override.path)) continue
      const message = `is not set by this variable, did you mean ${meant}?`
      return [{ path: override.path, message, source: { kind: 'env', name } }]
    }
    return []
  })
}

/** Kubernetes sets GATEHOUSE_OPS_PORT=tcp://10.0.0.1:9090 for a Service gatehouse-ops; others a version. */
function isUnrelated(name: string, text: string): boolean {
  return name === 'GATEHOUSE_CONFIG' || name === 'GATEHOUSE_VERSION' || /^(?:tcp|udp|sctp):\/\//.test(text)
}

/** Every way of doubling underscores, all doubled first: a name may contain single underscores. */
function spellings([first = '', ...rest]: readonly string[]): string[] {
  if (rest.length === 0) return [first]
  const ends = spellings(rest)
  return ['__', '_'].flatMap((between) => ends.map((end) => `${first}${between}${end}`))
}

/** Whether a path is an option and not a section, which would match too many variables. */
function isOption(path: Warning['path']): boolean {
  const node = schemaAt(path)
  return node !== undefined && !node.properties && !node.patternProperties
}
