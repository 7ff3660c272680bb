import type { Path } from '../problem.ts'
import type { SchemaNode } from './fields.ts'
import { configSchema } from './schema.ts'

/** The schema of the option at a path; undefined if there is none. */
export function schemaAt(path: Path): SchemaNode | undefined {
  let node: SchemaNode | undefined = configSchema
  for (const part of path) {
    if (node === undefined) return undefined
    node = childSchema(node, part)
  }
  return node
}

/** The schema of one member of a map or list. */
export function childSchema(node: SchemaNode, part: string | number): SchemaNode | undefined {
  if (node.anyOf) {
    return node.anyOf.map((option) => childSchema(option, part)).find((child) => child !== undefined)
  }
  if (node.items) return node.items
  // Own properties only: a misspelt option may be named like a member of every object.
  if (node.properties && Object.hasOwn(node.properties, part)) return node.properties[part]
  return node.patternProperties && Object.values(node.patternProperties)[0]
}

/** Whether an option is, or may be, a list. */
export function isList(node: SchemaNode | undefined): boolean {
  return node?.type === 'array' || node?.anyOf?.some(isList) === true
}
