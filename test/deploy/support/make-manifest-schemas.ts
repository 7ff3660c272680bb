import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

/**
 * Makes `manifest-schemas.json`, by which the manifests are validated, from the types that Kubernetes and the Prometheus
 * operator publish. Their packages have a hundred times its size, so they are not installed: this is run when the
 * manifests use another kind, or a field of a newer Kubernetes.
 *
 *     npm install --prefix FOLDER kubernetes-models @kubernetes-models/prometheus-operator
 *     node test/deploy/support/make-manifest-schemas.ts FOLDER
 */

const kinds = [
  'kubernetes-models/apps/v1/Deployment',
  'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler',
  'kubernetes-models/networking.k8s.io/v1/NetworkPolicy',
  'kubernetes-models/policy/v1/PodDisruptionBudget',
  'kubernetes-models/v1/ConfigMap',
  'kubernetes-models/v1/Service',
  '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor',
]

type Schema = Readonly<Record<string, unknown>>

interface ObjectSchema {
  readonly properties: Readonly<Record<string, Schema>>
  readonly required: readonly string[]
}

/** A quantity such as `512Mi` or `500m`: its type does not say its form (`splitRE` in `resource/quantity.go`). */
const quantity: Schema = {
  anyOf: [{ type: 'number' }, { type: 'string', pattern: '^[+-]?[0-9.]+([eEinumkKMGTP]*[-+]?[0-9]*)$' }],
}

const [folder] = process.argv.slice(2)
if (folder === undefined) throw new Error('node test/deploy/support/make-manifest-schemas.ts FOLDER')
const modules = resolve(folder, 'node_modules')
const definitions = new Map([['@kubernetes-models/apimachinery/api/resource/Quantity', quantity]])
for (const kind of kinds) define(kind)

const lines = [...definitions]
  .toSorted(([a], [b]) => (a < b ? -1 : 1))
  .map(([name, schema]) => `    ${JSON.stringify(name)}: ${JSON.stringify(schema)}`)
const { version } = JSON.parse(readFileSync(join(modules, 'kubernetes-models/package.json'), 'utf8')) as {
  readonly version: string
}
writeFileSync(
  'test/deploy/support/manifest-schemas.json',
  `{
  "$comment": "Made by make-manifest-schemas.ts from kubernetes-models ${version} (MIT).",
  "$defs": {
${lines.join(',\n')}
  }
}
`,
)

/** Adds the schema of the type that a module has its name of, and of all that it refers to. */
function define(name: string): void {
  if (definitions.has(name)) return
  definitions.set(name, {})
  const text = readFileSync(join(modules, `${name}.d.ts`), 'utf8').replaceAll(/\/\*[\s\S]*?\*\//g, '')
  const imports = new Map(
    [...text.matchAll(/^import (?:type )?\{ (\w+) \} from "(.+)"/gm)].map(([, type = '', from = '']) => [
      type,
      moduleOf(from, name),
    ]),
  )
  const own = name.slice(name.lastIndexOf('/') + 1)
  const declaration = new RegExp(
    `^export (?:interface|type) I${own}(?: extends ([\\w, ]+))? (?:= )?(.+)`,
    'ms',
  )
  const [, bases = '', declared] = declaration.exec(text) ?? []
  if (declared === undefined) throw new Error(`no type in ${name}`)
  const inherited = bases.split(', ').flatMap((base) => imports.get(base) || [])
  for (const base of inherited) define(base)
  definitions.set(
    name,
    inherited.map((base) => definitions.get(base) ?? {}).reduce(merge, parseType(declared, imports)),
  )
}

/** An object with the members of both. */
function merge(schema: Schema, base: Schema): Schema {
  // The casts are sound: only interfaces inherit, and `members` makes their schemas.
  const own = schema as unknown as ObjectSchema
  const more = base as unknown as ObjectSchema
  return {
    ...schema,
    properties: { ...more.properties, ...own.properties },
    required: [...new Set([...more.required, ...own.required])],
  }
}

/** The name of a module that another one imports. */
function moduleOf(from: string, by: string): string {
  const name = from.startsWith('.') ? join(dirname(by), from) : from
  const file = join(modules, name.replace(/\.js$/, ''))
  if (!existsSync(`${file}.d.ts`)) return ''
  return relative(modules, file)
}

/** The schema of the type that a text begins with. */
function parseType(text: string, imports: ReadonlyMap<string, string>): Schema {
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|\w+|\S/g) ?? []
  let at = 0
  const take = (expected?: string): string => {
    const token = tokens[at++] ?? ''
    if (expected !== undefined && token !== expected)
      throw new Error(`${expected} expected: ${tokens.slice(at - 1, at + 9).join(' ')}`)
    return token
  }
  const has = (token: string): boolean => tokens[at] === token && at++ >= 0

  function union(): Schema {
    has('|')
    const members = [single()]
    while (has('|')) members.push(single())
    const [first = {}] = members
    if (members.length === 1) return first
    if (members.every((member) => 'const' in member)) return { enum: members.map((member) => member.const) }
    return { anyOf: members }
  }

  function single(): Schema {
    let schema = primary()
    while (has('[')) {
      take(']')
      schema = { type: 'array', items: schema }
    }
    return schema
  }

  function primary(): Schema {
    const token = take()
    if (token.startsWith('"')) return { const: JSON.parse(token) }
    // No field of Kubernetes is a fraction ("Primitive types" of its API conventions).
    if (token === 'number') return { type: 'integer' }
    if (['string', 'boolean', 'null'].includes(token)) return { type: token }
    if (['any', 'unknown', 'object'].includes(token)) return {}
    if (token === '{') return members()
    if (token === '(') return closed(union(), ')')
    if (token === 'Array') {
      take('<')
      return { type: 'array', items: closed(union(), '>') }
    }
    const module = imports.get(token)
    if (!module) throw new Error(`unknown type ${token}`)
    define(module)
    return { $ref: `#/$defs/${module.replaceAll('/', '~1')}` }
  }

  function closed(schema: Schema, end: string): Schema {
    take(end)
    return schema
  }

  function members(): Schema {
    if (has('[')) {
      // [key: string]: Type
      for (const expected of ['key', ':', 'string', ']', ':']) take(expected)
      const values = union()
      has(';')
      return closed({ type: 'object', additionalProperties: values }, '}')
    }
    const properties: Record<string, Schema> = {}
    const required: string[] = []
    while (!has('}')) {
      const token = take()
      const name = token.startsWith('"') ? String(JSON.parse(token)) : token
      if (!has('?')) required.push(name)
      take(':')
      properties[name] = union()
      has(';')
    }
    return { type: 'object', properties, required, additionalProperties: false }
  }

  return union()
}
