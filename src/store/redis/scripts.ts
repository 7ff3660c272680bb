import { createHash } from 'node:crypto'
import { type Cluster, type Redis, ReplyError } from 'ioredis'
import { errorMessage } from '#platform/errors/operator-error.ts'
import { readProgramFile } from '#platform/package.ts'

/** What both kinds of client have in common. */
export type Client = Redis | Cluster

export type ScriptCall = readonly [keys: readonly string[], args: readonly (string | number)[]]

/** A Lua script that Redis runs as one step. */
export interface Script {
  /** Runs it by its digest, or by its source if Redis has forgotten it. */
  run(client: Client, call: ScriptCall): Promise<unknown>
  readonly source: string
  /** Whether its first keys and arguments are those of the change log. */
  readonly isLogged: boolean
}

interface ScriptOptions {
  /** Prepends the prelude that writes the change log, and its keys and arguments. */
  readonly isLogged?: boolean
  /** Wraps it in the script that writes the audit log (see audited.lua). */
  readonly isAudited?: boolean
}

/** The commands of all scripts that are logged or audited, which must not fail half-way. */
export const changeCommands = new Set<string>()

export function loadScript(
  name: string,
  { isLogged = false, isAudited = false }: ScriptOptions = {},
): Script {
  const body = isAudited ? `return audited(function()\n${readLua(name)}\nend)` : readLua(name)
  const source = [isAudited ? readLua('audited') : '', isLogged ? readLua('log-change') : '', body].join('')
  const sha = createHash('sha1').update(source).digest('hex')
  if (isLogged || isAudited)
    for (const [, command = ''] of source.matchAll(/redis\.call\('([A-Z]+)'/g)) changeCommands.add(command)

  async function run(client: Client, call: ScriptCall): Promise<unknown> {
    const commandArgs = commandArgsOf(call)
    try {
      return await client.call('evalsha', [sha, ...commandArgs])
    } catch (error) {
      // Redis forgets scripts at a restart or failover.
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error
    }
    return client.call('eval', [source, ...commandArgs])
  }

  return { run, source, isLogged }
}

/** Whether a script itself has failed: it has a bug, or cannot read a record. */
export function isScriptFault(error: unknown): boolean {
  return (
    error instanceof ReplyError && /^ERR (?:user_script:|Error compiling script)/.test(errorMessage(error))
  )
}

/** One list: spread as arguments, those of an import would not fit on the stack. */
export function commandArgsOf([keys, args]: ScriptCall): (string | number)[] {
  return [keys.length, ...keys, ...args]
}

/** The pairs of a reply of name, value, name, value; numbers become text. */
export function pairsOf(words: readonly unknown[]): readonly (readonly [name: string, value: string])[] {
  return Array.from({ length: words.length / 2 }, (_, index) => [
    String(words[2 * index]),
    String(words[2 * index + 1]),
  ])
}

function readLua(name: string): string {
  return readProgramFile(new URL(`./scripts/${name}.lua`, import.meta.url)).toString()
}
