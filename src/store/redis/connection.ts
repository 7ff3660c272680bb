import { GatehouseError, OperatorError, reasonOf } from '../../errors.ts'
import { changesKept } from '../changes.ts'
import type { Change } from '../store.ts'
import { openClient, type RedisOptions } from './client.ts'
import { createKeys } from './keys.ts'
import type { Client, Script } from './scripts.ts'

const retryReadyMs = 100

/** A connection to Redis, and the two ways it is used. */
export type Connection = ReturnType<typeof openConnection>

export function openConnection(options: RedisOptions) {
  const client = openClient(options)
  const keys = createKeys(options.keyPrefix)
  const listeners: ((change: Change) => void)[] = []

  /** Runs commands. @throws GatehouseError `store-unavailable` */
  async function ask<Result>(work: (client: Client) => Promise<Result>): Promise<Result> {
    try {
      return await work(client)
    } catch (cause) {
      throw new GatehouseError('store-unavailable', { cause })
    }
  }

  /** Runs a script that logs what it changes: log and head are its first keys, channel and length its first arguments. */
  function runChange(script: Script, scriptKeys: readonly string[], args: readonly (string | number)[]) {
    return ask(() =>
      script.run(client, [keys.log, keys.head, ...scriptKeys], [keys.channel, changesKept, ...args]),
    )
  }

  /** Tells the listeners of a change that has been made. */
  function tell(change: Change | undefined): void {
    if (change) for (const listener of listeners) listener(change)
  }

  async function ready(timeoutMs: number): Promise<void> {
    const deadline = performance.now() + timeoutMs
    for (;;) {
      try {
        await client.ping()
        return
      } catch (cause) {
        if (performance.now() >= deadline) {
          throw new OperatorError(`cannot reach Redis: ${reasonOf(cause)}`, {
            hint: 'It must run and be reachable; see store.redis in the config.',
            cause,
          })
        }
      }
      await new Promise((resolve) => setTimeout(resolve, retryReadyMs))
    }
  }

  return {
    keys,
    ask,
    runChange,
    run: (script: Script, scriptKeys: readonly string[], args: readonly (string | number)[]) =>
      ask(() => script.run(client, scriptKeys, args)),
    tell,
    ready,
    onChange: (listener: (change: Change) => void) => void listeners.push(listener),
    close: async () => client.disconnect(),
  }
}
