import { type AuditEntry, auditEntriesKept } from '../audit.ts'
import type { Connection } from './connection.ts'
import type { Script } from './scripts.ts'

type Entries = AuditEntry | readonly AuditEntry[] | undefined

/** Runs a script that changes something; if it does, the entries are added to the audit log. */
export function createAudited({ runDurably, keys }: Pick<Connection, 'runDurably' | 'keys'>) {
  return (
    script: Script,
    scriptKeys: readonly string[],
    args: readonly (string | number)[],
    audit: Entries,
  ): Promise<unknown> =>
    runDurably(script, [...scriptKeys, keys.audit], [...args, entriesText(audit), auditEntriesKept])
}

function entriesText(audit: Entries = []): string {
  const entries = 'action' in audit ? [audit] : audit
  return JSON.stringify(entries.map((entry) => JSON.stringify(entry)))
}
