import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Cluster, Redis } from 'ioredis'

/** What both kinds of client have in common. */
export type Client = Redis | Cluster

/** A Lua script that Redis runs as one step. */
export interface Script {
  run(client: Client, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown>
}

/** Loads a script of this folder; `isChange` puts the prelude before it that writes the change log. */
export function loadScript(name: string, { isChange }: { readonly isChange: boolean }): Script {
  const source = `${isChange ? readLua('log-change') : ''}${readLua(name)}`
  const sha = createHash('sha1').update(source).digest('hex')

  async function run(client: Client, keys: readonly string[], args: readonly (string | number)[]) {
    try {
      return await client.evalsha(sha, keys.length, ...keys, ...args)
    } catch (error) {
      // Redis forgets scripts at a restart or failover.
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error
      return client.eval(source, keys.length, ...keys, ...args)
    }
  }

  return { run }
}

function readLua(name: string): string {
  return readFileSync(new URL(`./scripts/${name}.lua`, import.meta.url), 'utf8')
}
