import { GatehouseError } from '../../errors.ts'
import { StoreFailure } from '../store-failure.ts'
import { type RedisOptions, redirections } from './client.ts'
import { type Link, openLink } from './link.ts'
import { isScriptFault, type Script, type ScriptCall, wordsOf } from './scripts.ts'

/** Runs scripts that count as done once enough replicas have what they wrote. */
export interface Writer {
  /**
   * @throws GatehouseError `store-unavailable`; with the cause `unconfirmed` where too few replicas have the change:
   *   it is done, and can still be lost; the fault of a script, as it is
   */
  run(script: Script, call: ScriptCall): Promise<unknown>
  /** Opens the connection before the first write, which then need not wait for it. */
  open(): void
  close(): void
}

/** A working replica has a change by then: waiting longer would be for one that is down. */
const acknowledgedWithinMs = 2_000
/** The part of a command's time that WAIT may take: the rest is for the answer. */
const waitingShare = 0.8

/**
 * Opens a connection of its own with the first write, as WAIT holds up everything behind it on its connection, which
 * must be neither look-ups nor the change log. Writes that come during a WAIT are sent together afterwards, with one
 * WAIT for all of them: so none waits for more than two.
 */
export function openWriter(options: RedisOptions, anyKey: string): Writer {
  const { replicas, commandTimeoutMs } = options
  const timeoutMs = Math.min(Math.floor(commandTimeoutMs * waitingShare), acknowledgedWithinMs)
  let link: Link | undefined
  let waiting: Write[] = []
  let isSending = false

  function run(script: Script, call: ScriptCall): Promise<unknown> {
    return new Promise((resolve, reject) => {
      waiting.push({ script, call, resolve, reject, redirected: 0 })
      if (!isSending) void sendAll()
    })
  }

  function open(): Link {
    link ??= openLink(options)
    return link
  }

  async function sendAll(): Promise<void> {
    isSending = true
    const link = open()
    await link.settled(timeoutMs)
    while (waiting.length > 0) {
      const group = waiting
      waiting = []
      await send(link, group).catch((error: unknown) => {
        for (const { reject } of group) reject(error)
      })
    }
    isSending = false
  }

  async function send({ ask, explain }: Link, group: readonly Write[]): Promise<void> {
    const replies = await ask((client) =>
      client.pipeline([...evals(group), ['wait', replicas, timeoutMs]]).exec(),
    )
    const shortage = shortageOf(replies?.[group.length], explain)
    const moved = group.filter((write, index) => {
      const [error, result] = replies?.[index] ?? []
      if (error && isRedirection(error) && write.redirected++ < redirections.most) return true
      const failure = error ? asWrite(explain(error)) : shortage
      if (isScriptFault(error)) write.reject(error)
      else if (failure) write.reject(new GatehouseError('store-unavailable', { cause: failure }))
      else write.resolve(result)
      return false
    })
    if (moved.length > 0) await findAgain(ask, moved)
  }

  /** The driver does not follow redirections in a pipeline with a WAIT: a look-up shows it where the slot is now. */
  async function findAgain(ask: Link['ask'], moved: readonly Write[]): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, redirections.delayMs))
    await ask((client) => client.get(anyKey)).catch(() => {})
    waiting.unshift(...moved)
  }

  function shortageOf(reply: Reply | undefined, explain: Link['explain']): StoreFailure | undefined {
    const [error, reached] = reply ?? []
    if (error) return asWrite(explain(error), 'done')
    if (Number(reached) >= replicas) return undefined
    return new StoreFailure(
      'unconfirmed',
      `only ${Number(reached)} of ${replicas} replicas have the change (store.redis.replicas)`,
    )
  }

  return { run, open, close: () => link?.close() }
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

/** What a failure means for a write: without an answer it may be done. @param how `done` = it is done */
export function asWrite(failure: StoreFailure, how?: 'done'): StoreFailure {
  const isUncertain = how === 'done' || failure.kind === 'unanswered'
  return isUncertain ? new StoreFailure('unconfirmed', failure.message) : failure
}

/** Whole scripts, not digests: one that Redis has forgotten would have to be sent, and waited for, twice. */
function evals(group: readonly Write[]) {
  return group.map(({ script, call }) => ['eval', script.source, wordsOf(call)])
}

function isRedirection({ message }: Error): boolean {
  return /^(?:MOVED|ASK|TRYAGAIN|CLUSTERDOWN) /.test(message)
}
