import { _, Ajv, type KeywordCxt, type KeywordDefinition, type ValidateFunction } from 'ajv'
import { configSchema } from './schema/schema.ts'
import { isDurationWithin, isSizeWithin } from './units.ts'

/** Compiles the check of the schema. The build does so in advance (tools/compiled-schema.ts). */
export function compileSchema(): ValidateFunction {
  return createSchemaAjv().compile(configSchema)
}

/** @param keepsSource whether the code is available as text */
export function createSchemaAjv(keepsSource = false): Ajv {
  const ajv = new Ajv({
    allErrors: true,
    useDefaults: true,
    strict: true,
    allowUnionTypes: true,
    // The types guarantee a valid schema, and a single validation gains nothing from optimised code.
    meta: false,
    validateSchema: false,
    code: { optimize: keepsSource, source: keepsSource, esm: true },
  })
  // Markers without a check of their own; `secret` selects the message if a secret is written inline.
  ajv.addVocabulary(['secret', 'isPublic', 'optional'])
  ajv.addKeyword(boundsKeyword('duration', { ref: isDurationWithin, code: _`isDurationWithin` }))
  ajv.addKeyword(boundsKeyword('size', { ref: isSizeWithin, code: _`isSizeWithin` }))
  return ajv
}

/** @param check the function, and its name in code that is kept as text */
function boundsKeyword(
  keyword: string,
  check: Parameters<KeywordCxt['gen']['scopeValue']>[1],
): KeywordDefinition {
  return {
    keyword,
    schemaType: 'object',
    type: 'string',
    code: (context) => {
      const { gen, schemaValue, data } = context
      context.fail(_`!${gen.scopeValue('func', check)}(${schemaValue}, ${data})`)
    },
  }
}
