import { Ajv2020 } from 'ajv/dist/2020.js'
import t from 'tap'
import { startGateway } from '../setup/gateway.ts'
import { readDocument } from './support/openapi.ts'

interface Operation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>
}

type Content = Readonly<Record<string, { readonly schema: unknown }>>

const gateway = await startGateway(t)
const { document } = await readDocument(gateway.url)
// The casts are sound: the document is valid OpenAPI, as another test checks.
const { schemas } = document.components as {
  readonly schemas: Readonly<Record<string, { readonly examples: readonly unknown[] }>>
}
const { tags } = document as unknown as { readonly tags: readonly { readonly name: string }[] }
const operations = Object.values(document.paths).flatMap((item) =>
  Object.values(item).filter((value) => 'operationId' in value),
) as unknown as readonly Operation[]

t.test('every named schema has an example, which is valid', async (t) => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  t.ok(Object.keys(schemas).length > 15)
  for (const [name, { examples }] of Object.entries(schemas)) {
    const validate = ajv.compile({ $ref: `#/components/schemas/${name}`, components: document.components })
    t.ok(examples.length > 0, name)
    for (const example of examples) t.ok(validate(example), `${name}: ${ajv.errorsText(validate.errors)}`)
    t.notOk(validate([]), `${name} refuses what it is not`)
  }
})

t.test('every operation is in a group, and every group has an operation', async (t) => {
  const used = new Set(operations.flatMap((operation) => operation.tags))
  t.ok(operations.every((operation) => operation.tags.length === 1))
  t.strictSame(new Set(tags.map(({ name }) => name)), used)
})

t.test('what an operation takes and gives has a name, for the types of generated clients', async (t) => {
  const unnamed = operations.flatMap(({ operationId, requestBody, responses }) =>
    [requestBody, ...Object.values(responses)].flatMap((message) => {
      const schema = message?.content?.['application/json']?.schema
      return schema === undefined || /"\$ref"/.test(JSON.stringify(schema)) ? [] : [operationId]
    }),
  )
  // Their bodies are an empty object, this document itself, and nothing that has a name.
  t.strictSame([...new Set(unnamed)].sort(), [
    'getOpenApi',
    'resetApiKey',
    'revokeHeldKey',
    'revokeToken',
    'revokeTokens',
  ])
})
