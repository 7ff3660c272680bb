import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Cluster, Redis } from 'ioredis'

/** What both kinds of client have in common. */
export type Client = Redis | Cluster

/** How many replicas must have what a script wrote before it counts as done, and how long that may take. */
export interface Acknowledgement {
  readonly replicas: number
  readonly timeoutMs: number
}

export interface ScriptCall {
  readonly keys: readonly string[]
  readonly args: readonly (string | number)[]
  /** undefined = a script that only reads, or whose loss does not matter. */
  readonly acknowledgement?: Acknowledgement | undefined
}

/** A Lua script that Redis runs as one step. */
export interface Script {
  /** @throws Error also where too few replicas have what was written: it may be done, but can still be lost */
  run(client: Client, call: ScriptCall): Promise<unknown>
}

interface ScriptKind {
  /** Puts the prelude before it that writes the change log. */
  readonly isChange: boolean
  /** Puts it within the one that writes the audit log (see audited.ts). */
  readonly isAudited?: boolean
}

/** Loads a script of this folder. */
export function loadScript(name: string, { isChange, isAudited = false }: ScriptKind): Script {
  const body = isAudited ? `return audited(function()\n${readLua(name)}\nend)` : readLua(name)
  const source = [isAudited ? readLua('audited') : '', isChange ? readLua('log-change') : '', body].join('')
  const sha = createHash('sha1').update(source).digest('hex')

  async function run(client: Client, { keys, args, acknowledgement }: ScriptCall): Promise<unknown> {
    const words = [keys.length, ...keys, ...args]
    const send = (name: string, script: string) =>
      acknowledgement && acknowledgement.replicas > 0
        ? sendAndWait(client, [name, script, words], acknowledgement)
        : client.call(name, [script, ...words])
    try {
      return await send('evalsha', sha)
    } catch (error) {
      // Redis forgets scripts at a restart or failover.
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error
    }
    return send('eval', source)
  }

  return { run }
}

/** A command's words are given as a list: as arguments, those of an import would not fit on the stack. */
type Command = readonly [name: string, script: string, words: readonly (string | number)[]]

/** WAIT counts for what its own connection has written: both go out together. */
async function sendAndWait(
  client: Client,
  command: Command,
  { replicas, timeoutMs }: Acknowledgement,
): Promise<unknown> {
  const replies = await client.pipeline([[...command], ['wait', replicas, timeoutMs]]).exec()
  const [[failure, result] = [], [waitFailure, reached] = []] = replies ?? []
  if (failure) throw failure
  if (waitFailure) throw waitFailure
  if (Number(reached) < replicas) {
    throw new Error(`only ${Number(reached)} of ${replicas} replicas have the change`)
  }
  return result
}

function readLua(name: string): string {
  return readFileSync(new URL(`./scripts/${name}.lua`, import.meta.url), 'utf8')
}
