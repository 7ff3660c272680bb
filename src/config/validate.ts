import type { ErrorObject } from 'ajv'
import { scopeForm, scopePattern } from '#accounts/keys/input.ts'
import { isRecord } from '#platform/json.ts'
import { didYouMean } from '#platform/text.ts'
import { compileSchema } from './compile-schema.ts'
import { type Finding, type Path, valueAt } from './problem.ts'
import { headerNamePattern, namePattern } from './schema/fields.ts'
import type { SchemaNode } from './schema/node.ts'
import { colorPattern } from './schema/portal.ts'
import type { Validation } from './schema/review.ts'
import { type ConfigTree, schemaAt } from './schema/schema.ts'
import { durationHint, secretHint, sizeHint } from './value-hints.ts'

/** Compiled lazily, as it would take most of the time of a short command. */
let compiled: ReturnType<typeof compileSchema> | undefined

/** Checks a tree against the schema and fills in the defaults; the given tree is not modified. */
export function validate(written: Record<string, unknown>): Validation<ConfigTree> {
  const tree = structuredClone(written)
  setDefaultDriver(tree)
  compiled ??= compileSchema()
  const validateTree = compiled
  validateTree(tree)
  const errors = validateTree.errors ?? []
  const findings = errors.filter((error) => isRelevant(error, errors)).map((error) => toFinding(error, tree))
  // The cast is sound if there are no findings: the type is derived from the schema that checked it.
  return { tree: tree as ConfigTree, findings, written }
}

/** If no driver is named, the section that is there decides. */
function setDefaultDriver({ store }: Record<string, unknown>): void {
  if (isRecord(store) && !('driver' in store) && 'redis' in store) store.driver = 'redis'
}

/**
 * Leaves out errors of single branches of a choice, as the choice itself is reported; but a number below a map that is
 * one of the branches is reported itself.
 */
function isRelevant(error: ErrorObject, all: readonly ErrorObject[]): boolean {
  if (/\/anyOf\/\d+\//.test(error.schemaPath)) return isWrongNumber(error)
  const { keyword, instancePath } = error
  const isBelow = (other: ErrorObject) => other.instancePath.startsWith(`${instancePath}/`)
  return keyword !== 'anyOf' || !all.some((other) => isBelow(other) && isWrongNumber(other))
}

function isWrongNumber({ schemaPath, params }: ErrorObject): boolean {
  if (!/\/anyOf\/\d+\/patternProperties\//.test(schemaPath)) return false
  return 'limit' in params || params.type === 'number'
}

function toFinding(error: ErrorObject, tree: unknown): Finding {
  const path = pathOf(error.instancePath, tree)
  if (error.keyword === 'additionalProperties') {
    const name = String(error.params.additionalProperty)
    const node = schemaAt(path)
    return { path: [...path, name], at: 'key', message: unknownOptionMessage(name, node) }
  }
  if (error.keyword === 'required') {
    return { path: [...path, String(error.params.missingProperty)], at: 'value', message: 'is missing' }
  }
  const value = valueAt(tree, path)
  const message =
    value === null ? emptyValueMessage(path) : constraintMessage(error, value, schemaAt(path) ?? {})
  return { path, at: 'value', message }
}

function emptyValueMessage(path: Path): string {
  const parent = schemaAt(path.slice(0, -1))
  const isNeeded = parent?.required?.includes(String(path.at(-1))) === true
  return isNeeded ? 'is empty: set a value' : 'is empty: set a value or remove it'
}

function unknownOptionMessage(name: string, node: SchemaNode | undefined): string {
  if (node?.patternProperties) {
    if (headerNamePattern in node.patternProperties)
      return `is not the name of a header: it must ${headerNameForm}`
    return `is not a name: it must ${nameForm}`
  }
  return `unknown option${didYouMean(name, Object.keys(node?.properties ?? {}))}`
}

function constraintMessage(error: ErrorObject, value: unknown, node: SchemaNode): string {
  if (node.secret && error.keyword === 'type') return `is never written inline: ${secretHint(value)}`
  if (node.secret) return 'set exactly one of { file: … }, { env: … } and { credential: … }'
  if (node.duration) {
    const { min, max } = node.duration
    return `must be a duration such as 250ms, 30s, 10m, 24h or 30d, from ${min} to ${max}${durationHint(value, node.duration)}`
  }
  if (node.size) {
    const alternative = node.size.alternative ? `, or "${node.size.alternative}"` : ''
    return `must be a size such as 16KiB or 10MiB, from ${node.size.min} to ${node.size.max}${alternative}${sizeHint(value, node.size)}`
  }
  if (isQuoted(value, node)) return `must be ${describeValues(node)}, without quotes`
  if (node.enum) return `must be ${describeValues(node)}${suggestion(value, node.enum)}`
  if (node.const !== undefined) return `must be ${String(node.const)}`
  if (node.type === 'integer' || node.type === 'number' || node.anyOf)
    return `must be ${describeValues(node)}`
  switch (error.keyword) {
    case 'type':
      return `must be ${describeType(node)}`
    case 'pattern':
      return `has an invalid format: it must ${describePattern(node.pattern, value)}`
    case 'minLength':
    case 'minItems':
      return 'must not be empty'
    case 'uniqueItems':
      return 'contains duplicates'
    default:
      return error.message ?? 'is not valid'
  }
}

const nameForm =
  'consist of letters, digits, - and _, start with a letter or digit, and have 64 characters at most'
const headerNameForm = 'consist of letters, digits and signs such as - and _, and have 64 characters at most'

/** Patterns that people meet often, in words. */
const forms: ReadonlyMap<string | undefined, string> = new Map([
  [namePattern, nameForm],
  [headerNamePattern, headerNameForm],
  [scopePattern, `have ${scopeForm}`],
  [colorPattern, 'be # and six hexadecimal digits, in quotes, such as "#0b6b5f"'],
])

/** In words, if only the prefix that the pattern requires is missing, or the pattern is a common one. */
function describePattern(pattern: string | undefined, value: unknown): string {
  const [, beginning] = /^\^([\w/-]+)(?:$|\[)/.exec(pattern ?? '') ?? []
  const isMissing = beginning !== undefined && !String(value).startsWith(beginning)
  if (isMissing) return `begin with ${beginning}`
  return forms.get(pattern) ?? `match ${pattern}`
}

/** Whether a number or boolean was written as text. */
function isQuoted(value: unknown, { type, enum: values = [], anyOf = [] }: SchemaNode): boolean {
  if (typeof value !== 'string') return false
  if (anyOf.some((option) => isQuoted(value, option))) return true
  if (type === 'boolean') return value === 'true' || value === 'false'
  if (type === 'integer' || type === 'number') return /^\d+(?:\.\d+)?$/.test(value)
  return values.some((each) => typeof each !== 'string' && String(each) === value)
}

function describeValues(node: SchemaNode): string {
  if (node.enum) return node.enum.length === 1 ? String(node.enum[0]) : `one of ${node.enum.join(', ')}`
  return (node.anyOf ?? [node]).map(describeType).join(' or ')
}

function suggestion(value: unknown, candidates: readonly unknown[]): string {
  const texts = candidates.filter((each) => typeof each === 'string')
  return typeof value === 'string' ? didYouMean(value, texts) : ''
}

function describeType(node: SchemaNode): string {
  if (node.secret) return '{ file: … } or { env: … } or { credential: … }'
  if (node.const !== undefined) return JSON.stringify(node.const)
  if (typeof node.type === 'object')
    return `${describeType({ ...node, type: 'object' })}, or a list of such maps`
  switch (node.type) {
    case 'object':
      return node.required?.length
        ? `a map such as { ${node.required.map((name) => `${name}: …`).join(', ')} }`
        : 'a map'
    case 'array':
      return 'a list'
    case 'boolean':
      return 'true or false'
    case 'string':
      return 'text'
    case 'integer':
      return `a whole number from ${node.minimum} to ${node.maximum}`
    case 'number':
      return `a number from ${node.minimum} to ${node.maximum}`
    default:
      return node.type ?? 'something else'
  }
}

/** Numbers become indexes only in lists, as a name may look like a number too. */
function pathOf(pointer: string, tree: unknown): Path {
  let node = tree
  return pointer
    .split('/')
    .slice(1)
    .map((escaped) => {
      const part = escaped.replaceAll('~1', '/').replaceAll('~0', '~')
      const isIndex = Array.isArray(node)
      // The cast is sound: the pointer comes from the schema's walk through this tree.
      node = (node as Record<string, unknown> | undefined)?.[part]
      return isIndex ? Number(part) : part
    })
}
