import type { JsonSchema } from '#platform/json-schema.ts'
import { namedSchemas } from './named-schemas.ts'

const nameOf: ReadonlyMap<unknown, string> = new Map(
  Object.entries(namedSchemas).map(([name, [schema]]) => [schema, name]),
)

/** A schema in which each named one, wherever it stands, is a reference. */
export function withReferences(schema: JsonSchema): JsonSchema {
  // The cast is sound: only values are replaced.
  return replaceNamed(schema) as JsonSchema
}

function replaceNamed(value: unknown): unknown {
  const name = nameOf.get(value)
  if (name !== undefined) return { $ref: `#/components/schemas/${name}` }
  if (Array.isArray(value)) return value.map(replaceNamed)
  if (typeof value !== 'object' || value === null) return value
  return withParts(defaultInWords(value))
}

/** Generators of clients take a member with a default for one that is always there, and ask for it in requests. */
function defaultInWords(schema: object): object {
  if (!('default' in schema && 'type' in schema)) return schema
  const { default: usual, ...others } = schema
  const words = 'description' in schema ? [schema.description] : []
  return { ...others, description: [...words, `Default: ${JSON.stringify(usual)}.`].join(' ') }
}

/** The named schemas, each with an example. */
export function componentSchemas(): Readonly<Record<string, object>> {
  return Object.fromEntries(
    Object.entries(namedSchemas).map(([name, [schema, example]]) => [
      name,
      { ...withParts(schema), examples: [example] },
    ]),
  )
}

/** The schema itself in full, its parts as references. */
function withParts(schema: object): object {
  return Object.fromEntries(Object.entries(schema).map(([key, part]) => [key, replaceNamed(part)]))
}
