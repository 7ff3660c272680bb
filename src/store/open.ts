import type { InstanceCounts } from './rates.ts'
import type { RedisOptions } from './redis/client.ts'
import type { SqliteOptions } from './sqlite/store.ts'
import type { Store } from './store.ts'

export type StoreOptions =
  | ({ readonly driver: 'sqlite' } & Pick<SqliteOptions, 'path'>)
  | ({ readonly driver: 'redis' } & Omit<RedisOptions, 'commandTimeoutMs'>)

/** A request must not wait long for the store; a command may. */
const busyTimeoutMs = { request: 250, command: 10_000 } as const
const commandTimeoutMs = { request: 250, command: 30_000 } as const

/**
 * Opens the configured store: the only module that knows all drivers, of which it loads only the one needed.
 * @param counts shared by the workers of this instance; with SQLite rates are counted there
 * @throws OperatorError if a SQLite file cannot be opened; Redis is connected in the background
 */
export async function openStore(
  options: StoreOptions,
  usage: 'request' | 'command',
  counts?: InstanceCounts,
): Promise<Store> {
  const listens = usage === 'request'
  switch (options.driver) {
    case 'sqlite': {
      const { openSqliteStore } = await import('./sqlite/store.ts')
      const store = openSqliteStore({ path: options.path, busyTimeoutMs: busyTimeoutMs[usage], listens })
      return counts ? { ...store, takeFromRate: counts.take, heartbeat: async () => counts.workers } : store
    }
    case 'redis': {
      const { openRedisStore } = await import('./redis/store.ts')
      const redisOptions = { ...options, commandTimeoutMs: commandTimeoutMs[usage] }
      return openRedisStore(redisOptions, { listens })
    }
    default:
      return options satisfies never
  }
}
