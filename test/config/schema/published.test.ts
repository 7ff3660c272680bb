import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import t from 'tap'
import { parse } from 'yaml'
import type { SchemaNode } from '#config/schema/node.ts'
import { publishedSchema } from '#config/schema/schema.ts'
import { validate } from '#config/validate.ts'
import { minimalConfig, type Options, withRoute, withUpstream } from '../config-fixtures.ts'
import { allNodes } from './nodes.ts'

// Strict: unknown JSON Schema keywords are rejected.
const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true })
const schema = publishedSchema()
const isGood = ajv.compile(schema)

t.test('the published config schema is valid JSON Schema 2020-12, and says so', async (t) => {
  t.match(schema, { $schema: 'https://json-schema.org/draft/2020-12/schema', title: 'Gatehouse config' })
  t.ok(ajv.validateSchema(schema), ajv.errorsText(ajv.errors))
})

t.test('the published config schema has no keywords of our own', async (t) => {
  const ours = ['duration', 'size', 'secret', 'optional']
  t.strictSame(
    wordsOf(schema).filter((word) => ours.includes(word)),
    [],
  )
})

t.test('every option of the published schema has a description', async (t) => {
  const mute = allNodes().filter(({ path, node }) => {
    // A branch of a choice is described by the choice.
    return path.length > 0 && node.description === undefined && node.const === undefined && !isBare(node)
  })
  t.strictSame(mute, [])
})

t.test('the shipped configs are valid by the published schema', async (t) => {
  for (const file of ['config/gateway.yaml', 'config/gateway.example.yaml']) {
    t.ok(isGood(parse(readFileSync(file, 'utf8'))), `${file}: ${ajv.errorsText(isGood.errors)}`)
  }
})

t.test('the published schema and the program accept the same configs', async (t) => {
  const configs: readonly (readonly [what: string, options: Options])[] = [
    ['the least config', minimalConfig],
    ['nothing at all', {}],
    ['an unknown option', { ...minimalConfig, lisen: {} }],
    ['an unknown option further down', { ...minimalConfig, listen: { prot: 1 } }],
    ['a port that is a text', { ...minimalConfig, listen: { port: '80' } }],
    ['a port out of range', { ...minimalConfig, listen: { port: 65_536 } }],
    ['a duration without a unit', { ...minimalConfig, listen: { requestTimeout: '30' } }],
    ['a duration', { ...minimalConfig, listen: { requestTimeout: '45s' } }],
    ['a size', withRoute({ maxBody: '1GiB' })],
    ['a size without a limit', withRoute({ maxBody: 'unlimited' })],
    ['a size that only begins well', withRoute({ maxBody: '1GiB or unlimited' })],
    ['a size in other units', withRoute({ maxBody: '1GB' })],
    ['no issuer', { ...minimalConfig, tokens: { issuer: null } }],
    ['an issuer that is a number', { ...minimalConfig, tokens: { issuer: 1 } }],
    ['an inline secret', { ...minimalConfig, keys: { sealingKey: 'secret' } }],
    ['a secret from two places', { ...minimalConfig, keys: { sealingKey: { file: 'a', env: 'b' } } }],
    ['a secret from nowhere', { ...minimalConfig, keys: { sealingKey: {} } }],
    ['a name with a slash', { ...minimalConfig, upstreams: { 'a/b': { targets: [{ url: 'http://a' }] } } }],
    ['no targets', withUpstream({ targets: [] })],
    ['a route without a path', { ...minimalConfig, routes: [{ name: 'a', upstream: 'b', auth: 'any' }] }],
    ['the same method twice', withRoute({ methods: ['GET', 'GET'] })],
  ]
  for (const [what, options] of configs) {
    t.equal(isGood(options), validate(options).findings.length === 0, what)
  }
})

/** The keywords of a schema, without the names of options. */
function wordsOf(node: object): string[] {
  return Object.entries(node).flatMap(([word, value]: [string, unknown]) => {
    if (word === 'properties' || word === 'patternProperties') {
      return [word, ...Object.values(value as object).flatMap((child) => wordsOf(child as object))]
    }
    if (word === 'items' || word === 'anyOf')
      return [word, ...[value].flat().flatMap((child) => wordsOf(child as object))]
    return [word]
  })
}

function isBare({ type }: SchemaNode): boolean {
  return type === 'boolean' || type === 'null'
}
