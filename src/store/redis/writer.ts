import { setTimeout as delay } from 'node:timers/promises'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { StoreFailure } from '../store-health.ts'
import { type RedisOptions, redirections } from './client.ts'
import { type CommandClient, openCommandClient } from './command-client.ts'
import { commandArgsOf, isScriptFault, type Script, type ScriptCall } from './scripts.ts'

/** A working replica has a change within this time; waiting longer only helps if a replica is down. */
const replicaWaitMsMax = 2_000
/** The part of a command's timeout that WAIT may take: the rest is for the response. */
const waitTimeoutShare = 0.8

/**
 * Runs scripts that are complete once enough replicas have their writes. Opens a connection of its own with the first
 * write, as WAIT blocks every command behind it on its connection, which must not delay look-ups or the change log.
 * Writes that arrive during a WAIT are sent together afterwards, with one WAIT for all of them, so that none waits for
 * more than two.
 */
export function openWriter(options: RedisOptions, anyKey: string) {
  const { replicas, commandTimeoutMs } = options
  const timeoutMs = Math.min(Math.floor(commandTimeoutMs * waitTimeoutShare), replicaWaitMsMax)
  let commandClient: CommandClient | undefined
  let pending: Write[] = []
  let isSending = false

  /**
   * @throws GatehouseError `store-unavailable`, with the cause `unconfirmed` if too few replicas have the change, which
   * was made but can still be lost; a script's fault is thrown unchanged
   */
  function run(script: Script, call: ScriptCall): Promise<unknown> {
    return new Promise((resolve, reject) => {
      pending.push({ script, call, resolve, reject, redirected: 0 })
      if (!isSending) void sendAll()
    })
  }

  /** Before the first write, which then need not wait for the connection. */
  function open(): CommandClient {
    commandClient ??= openCommandClient(options)
    return commandClient
  }

  async function sendAll(): Promise<void> {
    isSending = true
    try {
      const client = open()
      await client.whenReady(timeoutMs)
      while (pending.length > 0) {
        const batch = pending
        pending = []
        await send(client, batch).catch((error: unknown) => {
          for (const { reject } of batch) reject(error)
        })
      }
    } catch (error) {
      for (const { reject } of pending.splice(0)) reject(error)
    } finally {
      isSending = false
    }
  }

  async function send({ ask, toFailure }: CommandClient, batch: readonly Write[]): Promise<void> {
    const replies = await ask((client) =>
      client.pipeline([...evalCommands(batch), ['wait', replicas, timeoutMs]]).exec(),
    )
    const shortage = replicaShortage(replies?.[batch.length], toFailure)
    const redirected = batch.filter((write, index) => {
      const [error, result] = replies?.[index] ?? []
      if (error && isRedirection(error) && write.redirected++ < redirections.max) return true
      const failure = error ? toWriteFailure(toFailure(error)) : shortage
      if (isScriptFault(error)) write.reject(error)
      else if (failure) write.reject(new GatehouseError('store-unavailable', { cause: failure }))
      else write.resolve(result)
      return false
    })
    if (redirected.length > 0) await retryRedirected(ask, redirected)
  }

  /** The driver does not follow redirections in a pipeline with a WAIT: a look-up tells it where the slot is now. */
  async function retryRedirected(ask: CommandClient['ask'], redirected: readonly Write[]): Promise<void> {
    await delay(redirections.delayMs)
    await ask((client) => client.get(anyKey)).catch(() => {})
    pending.unshift(...redirected)
  }

  function replicaShortage(
    reply: Reply | undefined,
    toFailure: CommandClient['toFailure'],
  ): StoreFailure | undefined {
    const [error, reached] = reply ?? []
    if (error) return toWriteFailure(toFailure(error), 'done')
    if (Number(reached) >= replicas) return undefined
    return new StoreFailure(
      'unconfirmed',
      `only ${Number(reached)} of ${replicas} replicas confirmed the write (store.redis.replicas)`,
    )
  }

  return { run, open, close: () => commandClient?.close() }
}

interface Write {
  readonly script: Script
  readonly call: ScriptCall
  resolve(result: unknown): void
  reject(error: unknown): void
  /** How often a Cluster has redirected the write. */
  redirected: number
}

type Reply = readonly [error: Error | null, result: unknown]

/**
 * What a failure means for a write, which may have been made if there was no response.
 * @param how `done` = it was made
 */
export function toWriteFailure(failure: StoreFailure, how?: 'done'): StoreFailure {
  const isUncertain = how === 'done' || failure.kind === 'unanswered'
  return isUncertain ? new StoreFailure('unconfirmed', failure.message) : failure
}

/** Whole scripts, not digests, as one that Redis has forgotten would have to be sent, and waited for, twice. */
function evalCommands(batch: readonly Write[]) {
  return batch.map(({ script, call }) => ['eval', script.source, commandArgsOf(call)])
}

function isRedirection({ message }: Error): boolean {
  return /^(?:MOVED|ASK|TRYAGAIN|CLUSTERDOWN) /.test(message)
}
