import type { StoreDiagnostics } from '../diagnostics.ts'
import type { Connection } from './connection.ts'
import { loadScript } from './scripts.ts'

const probeScript = loadScript('probe-write')
const memoryScript = loadScript('read-memory-info')

/** A probe leaves nothing behind for long. */
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
        `Redis has maxmemory-policy ${policy}: with its memory full it deletes accounts and sessions; set noeviction`,
      ]
    },
  }
}
