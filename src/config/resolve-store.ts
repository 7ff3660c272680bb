import type { RedisTopology } from '#store/redis/client.ts'
import { parseRedisNode } from './addresses.ts'
import type { Config } from './config.ts'
import type { ConfigTree } from './schema/schema.ts'
import { resolveTls, type SecretLookup } from './secrets.ts'

/** The store as the program opens it. */
export function resolveStore(
  { driver, sqlite, redis }: ConfigTree['store'],
  lookup: SecretLookup,
): Config['store'] {
  if (driver === 'sqlite' || !redis) return { driver: 'sqlite', path: lookup.resolvePath(sqlite.path) }
  return {
    driver,
    topology: resolveRedisTopology(redis, lookup),
    username: redis.username,
    password: redis.password && lookup.secret(redis.password),
    tls: redis.tls && resolveTls(redis.tls, lookup),
    keyPrefix: redis.keyPrefix,
    replicas: redis.replicas === 'auto' ? Number(redis.url === undefined) : redis.replicas,
  }
}

function resolveRedisTopology(
  redis: NonNullable<ConfigTree['store']['redis']>,
  lookup: SecretLookup,
): RedisTopology {
  if (redis.sentinel) {
    const { name, nodes, password } = redis.sentinel
    return {
      kind: 'sentinel',
      name,
      nodes: nodes.flatMap(redisNode),
      password: password && lookup.secret(password),
    }
  }
  if (redis.cluster) return { kind: 'cluster', nodes: redis.cluster.nodes.flatMap(redisNode) }
  const url = redis.url ?? ''
  return { kind: 'single', url: typeof url === 'string' ? url : lookup.secret(url) }
}

function redisNode(text: string) {
  return parseRedisNode(text) ?? []
}
