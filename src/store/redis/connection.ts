import { randomUUID } from 'node:crypto'
import { GatehouseError, OperatorError, reasonOf } from '../../errors.ts'
import { changesKept } from '../changes.ts'
import type { Change, LoggedChange } from '../store.ts'
import { openClient, type RedisOptions } from './client.ts'
import { createKeys } from './keys.ts'
import type { Acknowledgement, Client, Script } from './scripts.ts'

const retryReadyMs = 100

/** A connection to Redis, and the ways it is used. Every failure is a GatehouseError `store-unavailable`. */
export type Connection = ReturnType<typeof openConnection>

export function openConnection(options: RedisOptions) {
  const client = openClient(options)
  const keys = createKeys(options.keyPrefix)
  const listeners: ((change: LoggedChange) => void)[] = []
  const acknowledgement: Acknowledgement = {
    replicas: options.replicas,
    timeoutMs: options.commandTimeoutMs,
  }
  /** The ID of the store that was seen first: with another one, or none, what was there is lost. */
  let knownId: string | undefined

  async function ask<Result>(work: (client: Client) => Promise<Result>): Promise<Result> {
    try {
      return await work(client)
    } catch (cause) {
      throw new GatehouseError('store-unavailable', { cause })
    }
  }

  /** Runs a script that only reads. */
  function read(script: Script, scriptKeys: readonly string[], args: readonly (string | number)[]) {
    return ask(() => script.run(client, { keys: scriptKeys, args }))
  }

  /** Runs a script that writes what must not be lost, but no cache holds. */
  function write(script: Script, scriptKeys: readonly string[], args: readonly (string | number)[]) {
    return ask(() => script.run(client, { keys: scriptKeys, args, acknowledgement }))
  }

  /** Runs a script that begins with the prelude: its first keys and arguments are those of the change log. */
  function change(script: Script, scriptKeys: readonly string[], args: readonly (string | number)[]) {
    return write(
      script,
      [keys.log, keys.head, keys.storeId, ...scriptKeys],
      [keys.channel, changesKept, randomUUID(), ...args],
    )
  }

  /** Tells the listeners of a change that was made here, by what the script answered. */
  function tell(made: Change, position: unknown): void {
    if (typeof position === 'number' && position > 0) hear({ change: made, position, at: Date.now() })
  }

  function hear(logged: LoggedChange): void {
    for (const listener of listeners) listener(logged)
  }

  /** To be asked before "not there" is answered: an empty store may be a lost one (a flush, a wrong restore). */
  async function confirmAbsence(): Promise<undefined> {
    const id = await ask((current) => current.get(keys.storeId))
    if (knownId === undefined || id === knownId) return undefined
    throw new GatehouseError('store-unavailable', { cause: new Error('Redis has lost its data') })
  }

  /**
   * Takes note of the ID the store has now.
   * @returns whether it is another store than before
   */
  function seeId(id: string): boolean {
    if (id === '' && knownId !== undefined) {
      throw new GatehouseError('store-unavailable', { cause: new Error('Redis has lost its data') })
    }
    const isOther = knownId !== undefined && id !== knownId
    if (id !== '') knownId = id
    return isOther
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
    client,
    keys,
    ask,
    read,
    write,
    change,
    tell,
    hear,
    confirmAbsence,
    seeId,
    ready,
    onChange: (listener: (change: LoggedChange) => void) => void listeners.push(listener),
    close: async () => client.disconnect(),
  }
}
