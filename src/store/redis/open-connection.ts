import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { errorMessage, OperatorError } from '#platform/errors/operator-error.ts'
import { createListeners } from '#platform/listeners.ts'
import type { EpochMs } from '#platform/time.ts'
import { auditClassOf, auditRetention, contentDigest } from '../audit.ts'
import type { AuditEntry } from '../audit-entry.ts'
import { type Change, changesMax, type LoggedChange } from '../changes.ts'
import { createWriteListeners, StoreFailure } from '../store-health.ts'
import type { RedisOptions } from './client.ts'
import { openCommandClient, wasAnswered } from './command-client.ts'
import { createKeyNames } from './data-layout.ts'
import { createRightsCheck } from './rights.ts'
import { type Client, isScriptFault, loadScript, pairsOf, type Script, type ScriptCall } from './scripts.ts'
import { createStoreFormat, createStoreId } from './store-identity.ts'
import { openWriter, toWriteFailure } from './writer.ts'

const retryReadyMs = 100

const listByTimeScript = loadScript('list-by-time')

/** A member of a sorted set whose scores are times. */
export interface TimedMember {
  readonly member: string
  readonly at: EpochMs
}

interface TimedPage {
  readonly after: TimedMember | undefined
  readonly limit: number
  /** Which comes first; default: the newest. */
  readonly order?: 'newest' | 'oldest'
}

/**
 * A connection to Redis, and the ways to use it. Every failure is a GatehouseError `store-unavailable`, except a
 * script's fault.
 */
export type Connection = ReturnType<typeof openConnection>

/** @param isLongLived whether it lives as long as the gateway, so that the connection for writes is opened at once */
export function openConnection(options: RedisOptions, isLongLived: boolean) {
  const keys = createKeyNames(options.keyPrefix)
  const commandClient = openCommandClient(options)
  const format = createStoreFormat(commandClient, keys)
  const storeId = createStoreId(commandClient, keys)
  const assertMayChange = createRightsCheck(commandClient, keys)
  const writer = options.replicas > 0 ? openWriter(options, keys.storeId) : undefined
  if (isLongLived) writer?.open()
  const { notify: notifyListeners, add: onChange } = createListeners<LoggedChange>()
  const { notify: notifyAudit, add: onAudit } = createListeners<AuditEntry>()
  const { report, onWrite } = createWriteListeners()

  /** @throws as the command client does, and if the data is of a newer version */
  async function ask<Result>(work: (client: Client) => Promise<Result>): Promise<Result> {
    format.assertSupported()
    return commandClient.ask(work)
  }

  /** Runs a script that only reads what exists in every format. */
  function runInAnyFormat(script: Script, ...call: ScriptCall): Promise<unknown> {
    return commandClient.ask((client) => script.run(client, call))
  }

  /** Runs a script whose writes, if any, may be lost with the master. */
  function run(script: Script, ...call: ScriptCall): Promise<unknown> {
    return ask((client) => script.run(client, call))
  }

  /** A page of a sorted set by time, in this order. @param after may have been removed; undefined = from the start */
  async function listByTime(
    key: string,
    { after, limit, order = 'newest' }: TimedPage,
  ): Promise<readonly TimedMember[]> {
    // The cast is sound: the script returns nothing else.
    const texts = (await run(
      listByTimeScript,
      [key],
      [after?.member ?? '', after?.at ?? 0, limit, Number(order === 'oldest')],
    )) as string[]
    if (texts.length === 0) await storeId.confirmAbsence()
    return pairsOf(texts).map(([member, at]) => ({ member, at: Number(at) }))
  }

  /** Runs a script whose writes must not be lost: resolves once enough replicas have them. */
  function runDurably(script: Script, ...call: ScriptCall): Promise<unknown> {
    return report(write(script, script.isLogged ? logged(call) : call))
  }

  async function write(script: Script, call: ScriptCall): Promise<unknown> {
    // Fail fast while disconnected.
    commandClient.assertConnected()
    format.assertSupported()
    await assertMayChange()
    const running = writer ? writer.run(script, call) : run(script, ...call)
    return running.catch((error: unknown) => {
      if (isScriptFault(error)) throw error
      throw new GatehouseError('store-unavailable', { cause: toWriteFailure(failureOf(error)) })
    })
  }

  /** Adds the keys and arguments of the change log (log-change.lua). */
  function logged([scriptKeys, args]: ScriptCall): ScriptCall {
    return [
      [keys.log, keys.head, keys.storeId, ...scriptKeys],
      [keys.channel, changesMax, randomUUID(), ...args],
    ]
  }

  /** Runs a script that changes something; if it does, the entries are added to the audit log (audited.lua). */
  async function runAudited(
    script: Script,
    scriptKeys: ScriptCall[0],
    args: ScriptCall[1],
    audit: AuditEntry | readonly AuditEntry[] = [],
  ): Promise<unknown> {
    const entries = 'action' in audit ? [audit] : audit
    const outcome = await runDurably(
      script,
      [...scriptKeys, keys.audit, keys.ownAudit, keys.auditChains],
      [...args, entriesText(entries), auditRetention.entries, Date.now() - auditRetention.ageMs],
    )
    // By the same rule as the script.
    const isDone = Array.isArray(outcome) ? outcome.length === 0 : typeof outcome === 'number' && outcome > 0
    if (isDone) entries.forEach(notifyAudit)
    return outcome
  }

  /**
   * Reports a change that a script has made.
   * @param running resolves with its position in the change log; 0 = nothing has changed, because its subject does not
   * exist
   * @returns whether it was made
   */
  async function settle(change: Change, running: Promise<unknown>): Promise<boolean> {
    const position = await running
    if (position === 0) await storeId.confirmAbsence()
    notify(change, position)
    return position !== 0
  }

  /** Notifies listeners of a change made by this process. @param position from the script */
  function notify(made: Change, position: unknown): void {
    if (typeof position === 'number' && position > 0)
      notifyListeners({ change: made, position, at: Date.now() })
  }

  async function ready(timeoutMs: number): Promise<void> {
    const deadline = performance.now() + timeoutMs
    for (;;) {
      // A command that is sent before the connection is ready would fail at once, and cost a whole pause.
      await commandClient.whenReady(Math.min(retryReadyMs, timeoutMs))
      try {
        // Not a ping, as this also tests the user's rights and, in a Cluster, the right node.
        const [id, written] = await commandClient.ask((client) =>
          Promise.all([client.get(keys.storeId), client.get(keys.format)]),
        )
        await format.observe({ id: id ?? '', format: written ?? '' })
        return
      } catch (error) {
        const refusal = format.toOperatorError(error)
        if (refusal) throw refusal
        if (performance.now() >= deadline) throw notReadyError(error, options.topology, timeoutMs)
      }
      await delay(retryReadyMs)
    }
  }

  return {
    keys,
    ask,
    run,
    listByTime,
    runInAnyFormat,
    runDurably,
    runAudited,
    settle,
    onWrite,
    /** Whether to wait until the replicas have all writes, including those of others. */
    waitsForReplicas: writer !== undefined,
    notify,
    notifyListeners,
    onAudit,
    storeId,
    format,
    confirmAbsence: storeId.confirmAbsence,
    ready,
    onChange,
    close: async () => {
      writer?.close()
      commandClient.close()
    },
  }
}

function failureOf(error: unknown): StoreFailure {
  const { cause } = error instanceof GatehouseError ? error : {}
  return cause instanceof StoreFailure ? cause : new StoreFailure('unanswered', errorMessage(cause ?? error))
}

function notReadyError(error: unknown, { kind }: RedisOptions['topology'], waitedMs: number): OperatorError {
  const waited = `${waitedMs / 1_000} s`
  const hints = {
    single: 'Redis must be running, and reachable as store.redis in the config says.',
    sentinel: `No Sentinel named a reachable master within ${waited}; see store.redis in the config.`,
    cluster: `No cluster node named the owner of the slot within ${waited}; see store.redis in the config.`,
  }
  const failure = failureOf(error)
  const hint = wasAnswered(failure) ? {} : { hint: hints[kind] }
  return new OperatorError(failure.message, { ...hint, cause: error })
}

function entriesText(entries: readonly AuditEntry[]): string {
  const texts = entries.map((entry) => {
    const text = JSON.stringify(entry)
    return [auditClassOf(entry), text, contentDigest(text)]
  })
  return JSON.stringify(texts)
}
