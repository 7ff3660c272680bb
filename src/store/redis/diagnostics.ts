import type { StoreDiagnostics } from '../diagnostics.ts'
import type { Connection } from './connection.ts'
import { loadScript } from './scripts.ts'

const probeScript = loadScript('probe-write')
const memoryScript = loadScript('read-memory-info')

/** TTL of the probe's key. */
const probeTtlMs = 60_000

export function openDiagnostics({ keys, run, runDurably, onWrite }: Connection): StoreDiagnostics {
  return {
    onWrite,
    probeWrite: async () => {
      await runDurably(probeScript, [keys.writeProbe, keys.storeId], [probeTtlMs])
    },
    findRisks: async () => {
      const [, policy] =
        /^maxmemory_policy:(\S+)/m.exec(String(await run(memoryScript, [keys.storeId], []))) ?? []
      if (policy === undefined || policy === 'noeviction') return []
      return [
        `Redis has maxmemory-policy ${policy}: when memory runs out it evicts accounts and sessions; set noeviction`,
      ]
    },
  }
}
