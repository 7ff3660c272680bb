import { randomUUID } from 'node:crypto'
import { GatehouseError, OperatorError, reasonOf } from '../../errors.ts'
import { changesKept } from '../changes.ts'
import type { Change, LoggedChange } from '../store.ts'
import { openClient, type RedisOptions } from './client.ts'
import { createKeys } from './keys.ts'
import type { Acknowledgement, Client, Script } from './scripts.ts'

const retryReadyMs = 100
/** A replica that is there has a change sooner: whoever waits longer waits for one that is not. */
const acknowledgedWithinMs = 2_000

/** A connection to Redis, and the ways it is used. Every failure is a GatehouseError `store-unavailable`. */
export type Connection = ReturnType<typeof openConnection>

export function openConnection(options: RedisOptions) {
  const client = openClient(options)
  const keys = createKeys(options.keyPrefix)
  const listeners: ((change: LoggedChange) => void)[] = []
  const acknowledgement: Acknowledgement = {
    replicas: options.replicas,
    timeoutMs: Math.min(options.commandTimeoutMs, acknowledgedWithinMs),
  }
  /** The ID of the store that was seen first: with another one, or none, what was there is lost. */
  let knownId: string | undefined
  /** Why there is no connection: commands say only that there is none. */
  let trouble: Error | undefined
  /** The driver would go on with the first database, where another's data may be. */
  let isWrongDatabase = false
  client.on('error', (error: Error) => {
    trouble = rootOf(error)
    if (isOfSelect(trouble)) isWrongDatabase = true
  })
  client.on('connect', () => {
    isWrongDatabase = false
  })
  client.on('ready', () => {
    if (!isWrongDatabase) trouble = undefined
  })

  async function ask<Result>(work: (client: Client) => Promise<Result>): Promise<Result> {
    if (isWrongDatabase) throw new GatehouseError('store-unavailable', { cause: trouble })
    try {
      return await work(client)
    } catch (error) {
      throw new GatehouseError('store-unavailable', { cause: trouble ?? error })
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

  /**
   * To be asked before "not there" is answered or made use of: an empty store may be a lost one (a flush, a
   * wrong restore).
   */
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
        // Rather than a ping: so the rights of the user are tried too, and in a Cluster the node that counts.
        await ask((current) => current.get(keys.storeId))
        return
      } catch (error) {
        if (performance.now() >= deadline) {
          const cause = error instanceof Error ? error.cause : error
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

/** What lies behind the failure of all nodes of a Cluster, or of all addresses of a host. */
function rootOf(error: Error): Error {
  if ('lastNodeError' in error && error.lastNodeError instanceof Error) {
    const isTold = error.lastNodeError.message !== 'Connection is closed.'
    return isTold ? rootOf(error.lastNodeError) : new Error('none of its nodes answers')
  }
  const [first] = error instanceof AggregateError ? error.errors : []
  return first instanceof Error ? first : error
}

/** Whether Redis has refused to change to the database of the URL. */
function isOfSelect(error: Error): boolean {
  if (!('command' in error)) return false
  const { command } = error
  return typeof command === 'object' && command !== null && 'name' in command && command.name === 'select'
}
