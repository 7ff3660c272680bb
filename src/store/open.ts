import type { RedisOptions } from './redis/client.ts'
import type { SqliteOptions } from './sqlite/store.ts'
import type { Store } from './store.ts'

export type StoreOptions =
  | ({ readonly driver: 'sqlite' } & Pick<SqliteOptions, 'path'>)
  | ({ readonly driver: 'redis' } & Omit<RedisOptions, 'commandTimeoutMs'>)

/** A request must not wait long for the store; a command of the operator may. */
export type Patience = 'request' | 'command'

const busyTimeoutMs = { request: 250, command: 10_000 } as const
const commandTimeoutMs = { request: 250, command: 30_000 } as const

/**
 * Opens the store of the config: the one place that knows which there are. Only its driver is loaded.
 * @throws OperatorError where a SQLite file cannot be opened; Redis is connected to in the background
 */
export async function openStore(options: StoreOptions, patience: Patience): Promise<Store> {
  switch (options.driver) {
    case 'sqlite': {
      const { openSqliteStore } = await import('./sqlite/store.ts')
      return openSqliteStore({ path: options.path, busyTimeoutMs: busyTimeoutMs[patience] })
    }
    case 'redis': {
      const { openRedisStore } = await import('./redis/store.ts')
      const redisOptions = { ...options, commandTimeoutMs: commandTimeoutMs[patience] }
      return openRedisStore(redisOptions, { listens: patience === 'request' })
    }
    default:
      return options satisfies never
  }
}
