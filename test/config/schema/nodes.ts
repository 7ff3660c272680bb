import type { SchemaNode } from '#config/schema/node.ts'
import { configSchema } from '#config/schema/schema.ts'

/** A node of the schema, with the path of its option in `everything`. */
export interface PlacedNode {
  readonly path: readonly (string | number)[]
  readonly node: SchemaNode
}

/** Every node of the schema: an upstream is `it`, an item of a list the first. */
export function allNodes(): readonly PlacedNode[] {
  return below(configSchema, [])
}

function below(node: SchemaNode, path: PlacedNode['path']): PlacedNode[] {
  const members = Object.entries(node.properties ?? {})
  const named = Object.values(node.patternProperties ?? {})
  return [
    { path, node },
    ...members.flatMap(([name, child]) => below(child, [...path, name])),
    ...named.flatMap((child) => below(child, [...path, 'it'])),
    // One thing or a list of such has the same nodes twice.
    ...(node.items && !node.properties ? below(node.items, [...path, 0]) : []),
    ...(node.anyOf ?? []).flatMap((child) => below(child, path)),
  ]
}

const target = { url: 'http://127.0.0.1:3000' }

/** A config that has every map and list of the schema. */
export const everything = {
  upstreams: { it: { targets: [target], health: { active: { path: '/healthz' } } } },
  routes: [
    {
      name: 'it',
      path: '/',
      host: 'a.example',
      methods: ['GET'],
      upstream: 'it',
      auth: 'any',
      roles: ['Admin'],
      rateLimit: { limit: 600, per: '1m' },
    },
  ],
  plans: { it: { quota: { limit: 1, per: 'day' }, rateLimit: { limit: 1, per: '1s' } } },
  trustedProxies: ['10.0.0.0/8'],
  tracing: { otlp: { endpoint: 'http://localhost:4318' } },
  mail: { host: 'smtp.example.com', from: 'gatehouse@example.com' },
  keys: { remind: ['1d'] },
}

/** The config with another value at a path; missing maps are created. */
export function withValue(tree: unknown, [first, ...rest]: PlacedNode['path'], value: unknown): unknown {
  if (first === undefined) return value
  if (Array.isArray(tree)) return tree.with(Number(first), withValue(tree[Number(first)], rest, value))
  const map = typeof tree === 'object' && tree !== null ? (tree as Record<string, unknown>) : {}
  return { ...map, [first]: withValue(map[first], rest, value) }
}
