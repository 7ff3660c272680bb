import { openRedisStore } from './redis/store.ts'
import { openSqliteStore } from './sqlite/store.ts'
import type { Store } from './store.ts'

export type StoreOptions =
  | ({ readonly driver: 'sqlite' } & Pick<Parameters<typeof openSqliteStore>[0], 'path'>)
  | ({ readonly driver: 'redis' } & Omit<Parameters<typeof openRedisStore>[0], 'commandTimeoutMs'>)

/** A request must not wait long for the store; a command of the operator may. */
export type Patience = 'request' | 'command'

const busyTimeoutMs = { request: 250, command: 10_000 } as const
const commandTimeoutMs = { request: 250, command: 30_000 } as const

/**
 * Opens the store of the config: the one place that knows which there are.
 * @throws OperatorError where a SQLite file cannot be opened; Redis is connected to in the background
 */
export function openStore(options: StoreOptions, patience: Patience): Store {
  switch (options.driver) {
    case 'sqlite':
      return openSqliteStore({ path: options.path, busyTimeoutMs: busyTimeoutMs[patience] })
    case 'redis':
      return openRedisStore({ ...options, commandTimeoutMs: commandTimeoutMs[patience] })
    default:
      return options satisfies never
  }
}
