import { Redis } from 'ioredis'
import type { Test } from 'tap'
import { openRedisStore } from '#store/redis/store.ts'
import type { Store } from '#store/store.ts'
import { until } from '../../setup/net.ts'
import { type RedisServer, type Scope, startRedis } from '../../setup/redis.ts'
import type { NewPlace } from '../place.ts'

export type RedisOptions = Parameters<typeof openRedisStore>[0]

/** What a store on one Redis needs, as the config gives it. */
export function optionsOf(
  { url }: Pick<RedisServer, 'url'>,
  changes: Partial<RedisOptions> = {},
): RedisOptions {
  return {
    topology: { kind: 'single', url },
    username: undefined,
    password: undefined,
    tls: undefined,
    keyPrefix: 'gh:',
    replicas: 0,
    commandTimeoutMs: 5_000,
    ...changes,
  }
}

/** Opens a store that is closed with the test, whether or not it answers. */
export function openAt(t: Test, options: RedisOptions, { listens = false } = {}): Store {
  const store = openRedisStore(options, { listens })
  t.teardown(() => store.close())
  return store
}

/** Opens a store, and waits until it answers. */
export async function openStoreAt(
  t: Test,
  options: RedisOptions,
  how?: { listens?: boolean },
): Promise<Store> {
  const store = openAt(t, options, how)
  // Rather than ready(), which looks only now and then: there are hundreds of these.
  await until('the store answers', () =>
    store.readChanges(undefined).then(
      () => true as const,
      () => undefined,
    ),
  )
  return store
}

/** Places side by side in one Redis: each case has a prefix of its own. */
export function prefixedPlaces(options: RedisOptions): NewPlace {
  let places = 0
  return async (t) => {
    places++
    const keyPrefix = `${options.keyPrefix}${places}:`
    return { open: () => openStoreAt(t, { ...options, keyPrefix }) }
  }
}

/** A plain client, to look at what is there. */
export function openInspector(scope: Scope, { url }: Pick<RedisServer, 'url'>): Redis {
  const client = new Redis(url)
  client.on('error', () => {})
  scope.teardown(() => client.disconnect())
  return client
}

/** Logs the end of so many sessions that nobody knows, as many instances may while one is cut off. */
export async function logSessions(inspector: Redis, count: number): Promise<void> {
  const fill = `for i = 1, ARGV[1] do
    local head = redis.call('INCR', KEYS[2])
    redis.call('XADD', KEYS[1], head .. '-0', 'kind', 'session', 'subject', 'x', 'at', i)
  end`
  await inspector.eval(fill, 2, 'gh:{account}:log', 'gh:{account}:log-head', count)
}

/** Places in a Redis of one's own that is emptied before each case. */
export async function emptiedPlaces(t: Test): Promise<NewPlace> {
  const server = await startRedis(t)
  const inspector = openInspector(t, server)
  return async (t) => {
    await inspector.flushall()
    return { open: () => openStoreAt(t, optionsOf(server)) }
  }
}
