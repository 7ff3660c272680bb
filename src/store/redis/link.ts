import { Redis, ReplyError } from 'ioredis'
import { GatehouseError, reasonOf } from '../../errors.ts'
import { StoreFailure } from '../store-failure.ts'
import { addressOf } from './address.ts'
import { openClient, type RedisOptions } from './client.ts'
import { createGathering } from './gathering.ts'
import { type Client, isScriptFault } from './scripts.ts'

/** A client, and the state of its connection. */
export interface Link {
  /**
   * @throws GatehouseError `store-unavailable` whose cause is a StoreFailure; the fault of a script, as it is
   */
  ask<Result>(work: (client: Client) => Promise<Result>): Promise<Result>
  /** @throws GatehouseError as `ask` does, if there is no connection now */
  assertUp(): void
  /** Waits for a connection that is being made; `ask` then shows whether there is one. */
  settled(timeoutMs: number): Promise<void>
  /** What an error of a command means. */
  explain(error: unknown): StoreFailure
  close(): void
}

export function openLink(options: RedisOptions): Link {
  const { client, close } = openClient(options)
  const address = addressOf(options.place)
  // The Cluster client has a connection to each node, and chooses among them by itself.
  const gather = client instanceof Redis ? createGathering(client) : undefined
  /** Why there is no connection: the errors of commands do not tell. */
  let trouble: Error | undefined
  /** Set if SELECT failed: the driver would go on with database 0, which may hold other data. */
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

  function assertUp(): void {
    if (client.status === 'ready' && !isWrongDatabase) return
    const failure = new StoreFailure('unreachable', `cannot reach ${address}: ${reasonNow()}`)
    throw new GatehouseError('store-unavailable', { cause: failure })
  }

  function reasonNow(): string {
    if (trouble) return inWords(trouble)
    // Connected, but Redis has not confirmed yet that it has loaded its data.
    return client.status === 'connect' ? 'it does not answer' : 'there is no connection'
  }

  function explain(error: unknown): StoreFailure {
    if (error instanceof StoreFailure) return error
    if (error instanceof ReplyError) {
      return new StoreFailure('refused', `${address} refuses: ${reasonOf(error)}`)
    }
    const kind = error instanceof Error && wasNotSent.test(error.message) ? 'unreachable' : 'unanswered'
    return new StoreFailure(kind, `cannot reach ${address}: ${inWords(trouble ?? error)}`)
  }

  async function ask<Result>(work: (client: Client) => Promise<Result>): Promise<Result> {
    assertUp()
    gather?.()
    try {
      return await work(client)
    } catch (error) {
      if (isScriptFault(error)) throw error
      throw new GatehouseError('store-unavailable', { cause: explain(error) })
    }
  }

  function settled(timeoutMs: number): Promise<void> {
    if (client.status === 'ready') return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(end, timeoutMs)
      client.once('ready', end)
      function end(): void {
        clearTimeout(timer)
        client.off('ready', end)
        resolve()
      }
    })
  }

  return { ask, assertUp, settled, explain, close }
}

const wasNotSent = /isn't writeable|isn't ready/

/** Messages of the driver, and what they mean. */
const words: readonly (readonly [RegExp, string])[] = [
  [/isn't writeable|isn't ready|^Connection is closed/, 'there is no connection'],
  [/max retries per request/, 'the connection broke'],
  [/^Command timed out/, 'it does not answer in time'],
  [/^Socket timeout/, 'it has fallen silent'],
  [/ETIMEDOUT$/, 'it does not take the connection in time'],
  [/^Failed to refresh slots cache/, 'none of its nodes answers'],
  [/^All sentinels are unreachable/, 'none of the Sentinels names a master that answers'],
]

function inWords(error: unknown): string {
  const reason = reasonOf(error)
  const [, meaning] = words.find(([pattern]) => pattern.test(reason)) ?? []
  return meaning ?? reason
}

/** The error behind a failure of all nodes of a Cluster, or of all addresses of a host. */
function rootOf(error: Error): Error {
  if ('lastNodeError' in error && error.lastNodeError instanceof Error) {
    const isTold = error.lastNodeError.message !== 'Connection is closed.'
    return isTold ? rootOf(error.lastNodeError) : new Error('none of its nodes answers')
  }
  const [first] = error instanceof AggregateError ? error.errors : []
  return first instanceof Error ? first : error
}

/** Whether Redis has refused to select the database of the URL. */
function isOfSelect(error: Error): boolean {
  if (!('command' in error)) return false
  const { command } = error
  return typeof command === 'object' && command !== null && 'name' in command && command.name === 'select'
}
