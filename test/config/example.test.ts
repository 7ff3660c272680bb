import { readFileSync } from 'node:fs'
import t from 'tap'
import { isMap, isScalar, isSeq, parse, parseDocument, type Scalar } from 'yaml'
import { readConfig } from '#config/load.ts'
import type { SchemaNode } from '#config/schema/node.ts'
import { configSchema } from '#config/schema/schema.ts'

t.test('config/gateway.example.yaml names every option of the schema, and no other', async (t) => {
  const text = readFileSync('config/gateway.example.yaml', 'utf8')
  t.strictSame(missing(configSchema, parse(text), ''), [
    'upstreams.health.active.grpc',
    'issuers.jwks.file',
    'store.redis',
  ])
  t.match(text, 'or { file: jwks.json }')
  t.match(text, 'grpc: { service: shop.Orders }')
  const commented = text
    .slice(text.indexOf('  # redis:'), text.indexOf('\ncache:'))
    .replaceAll(/^ {2}# /gm, '')
  t.strictSame(
    missing(configSchema, { store: parse(commented) }, '').filter((path) => path.startsWith('store.redis')),
    [],
  )
  const { problems } = readConfig({ file: 'config/gateway.example.yaml', env: {} })
  t.strictSame(
    problems.map(({ message }) => message).filter((message) => !/cannot read|is not set/.test(message)),
    [],
    'only the files and variables of the examples are not there',
  )
})

t.test('config/gateway.example.yaml has the default of every option that is not marked "e.g."', async (t) => {
  const text = readFileSync('config/gateway.example.yaml', 'utf8')
  const isExample = (offset: number) => /^.*e\.g\./.test(text.slice(text.lastIndexOf('\n', offset) + 1))
  const options = [...optionsOf(parseDocument(text).contents, configSchema, '')].filter(
    ({ offset, value, node }) => isScalar(value) && node.default !== undefined && !isExample(offset),
  )
  t.ok(options.length > 80)
  t.strictSame(
    options.map(({ path, value }) => [path, isScalar(value) ? value.value : undefined]),
    options.map(({ path, node }) => [path, node.default]),
  )
})

/** The options in a tree, with what the schema says of them and where they are. */
function* optionsOf(tree: unknown, schema: SchemaNode, parent: string): Generator<FoundOption> {
  if (isSeq(tree)) for (const item of tree.items) yield* optionsOf(item, schema.items ?? schema, parent)
  if (!isMap<Scalar<string>>(tree)) return
  const { properties = {}, patternProperties = {} } = schema
  for (const { key, value } of tree.items) {
    const node = properties[key.value] ?? Object.values(patternProperties)[0] ?? {}
    const path = `${parent}.${key.value}`
    yield { path, value, node, offset: key.range?.[0] ?? 0 }
    yield* optionsOf(value, node, path)
  }
}

interface FoundOption {
  readonly path: string
  readonly value: unknown
  readonly node: SchemaNode
  readonly offset: number
}

/** Options of the schema that a tree does not have. */
function missing(node: SchemaNode, value: unknown, path: string): string[] {
  if (node.secret || value === undefined) return value === undefined ? [path] : []
  if (node.items && (Array.isArray(value) || !node.properties))
    return Array.isArray(value) ? missing(node.items, mergeAll(value), path) : []
  if (node.patternProperties) {
    const [child = {}] = Object.values(node.patternProperties)
    return missing(child, mergeAll(Object.values(value ?? {})), path)
  }
  const members = Object.entries(node.properties ?? {})
  return members.flatMap(([name, child]) =>
    missing(child, (value as Record<string, unknown> | null)?.[name], path === '' ? name : `${path}.${name}`),
  )
}

/** The union of several sets. */
function mergeAll(values: readonly unknown[]): unknown {
  return values.every((value) => typeof value === 'object') ? Object.assign({}, ...values) : values[0]
}
