import { durationPattern, sizePattern } from '../units.ts'
import type { SchemaNode } from './fields.ts'
import { configSchema } from './schema.ts'

/** The schema for editors, in JSON Schema 2020-12 without our custom keywords. */
export function publishedSchema(): object {
  return { $schema: 'https://json-schema.org/draft/2020-12/schema', ...publish(configSchema) }
}

function publish(node: SchemaNode & { readonly optional?: boolean }): SchemaNode {
  const { duration, size, secret: _, optional: __, ...plain } = node
  return {
    ...plain,
    ...(duration && { pattern: durationPattern }),
    ...(size && { pattern: size.alternative ? `${sizePattern}|^${size.alternative}$` : sizePattern }),
    ...(node.properties && { properties: publishAll(node.properties) }),
    ...(node.patternProperties && { patternProperties: publishAll(node.patternProperties) }),
    ...(node.items && { items: publish(node.items) }),
    ...(node.anyOf && { anyOf: node.anyOf.map(publish) }),
  }
}

function publishAll(nodes: Readonly<Record<string, SchemaNode>>): Readonly<Record<string, SchemaNode>> {
  return Object.fromEntries(Object.entries(nodes).map(([name, node]) => [name, publish(node)]))
}
