import { parseDocument } from 'yaml'
import { isRecord } from '#platform/json.ts'
import {
  type Finding,
  formatPath,
  formatSource,
  isPathPrefix,
  type Path,
  type Problem,
  type Source,
  valueAt,
  type Warning,
} from './problem.ts'
import type { ConfigFile } from './read-config-file.ts'
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
export function environmentOverrides(env: Environment, tree: unknown): Override[] {
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
export function findMisspeltVariables(env: Environment, tree: ConfigTree): Warning[] {
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
    const empty = typeof path[index + 1] === 'number' ? [] : {}
    const next = isLast ? value : (valueAt(map, [part]) ?? empty)
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

/** Finds out where options come from: the file, an override, or a default. */
export function createSources(configFile: ConfigFile, overrides: readonly Override[]) {
  function findSource(path: Path, at: Finding['at'] = 'value'): Source {
    const override = overrides.findLast((one) => isPathPrefix(one.path, path) || isPathPrefix(path, one.path))
    if (override && setsOption(override, path)) return override.source
    const isReplaced = override !== undefined && isPathPrefix(override.path, path)
    if (isReplaced || !isSet(configFile.tree, path)) return { kind: 'default' }
    return at === 'key' ? configFile.locateKey(path) : configFile.locate(path)
  }

  /** A missing option is reported at the item that lacks it. */
  function findNearestSource(path: Path): Source {
    for (let length = path.length - 1; length > 0; length--) {
      const item = path.slice(0, length)
      const isOverridden = overrides.some((one) => isPathPrefix(one.path, item))
      if (!isOverridden && isSet(configFile.tree, item)) return configFile.locate(item)
      const source = findSource(item)
      if (source.kind !== 'default') return source
    }
    return configFile.locate([])
  }

  return {
    /** The source of the effective value at a path. */
    sourceOf: (path: Path) => findSource(path),
    toProblem: ({ path, at, message }: Finding): Problem => {
      const source = findSource(path, at)
      return { path, message, source: source.kind === 'default' ? findNearestSource(path) : source }
    },
  }
}

/** Whether an override sets the option at a path, or a part of it. */
function setsOption({ path: overridePath, value }: Override, path: Path): boolean {
  return overridePath.length > path.length || isSet(value, path.slice(overridePath.length))
}

function isSet(tree: unknown, path: Path): boolean {
  return valueAt(tree, path) !== undefined
}
