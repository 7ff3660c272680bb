import { auditClassOf, auditRetention, contentDigest } from '../audit-chain.ts'
import type { AuditEntry } from '../audit-entry.ts'
import type { Connection } from './connection.ts'
import type { Script } from './scripts.ts'

type Entries = AuditEntry | readonly AuditEntry[] | undefined

/** Runs a script that changes something; if it does, the entries are added to the audit log. */
export function createAudited({
  runDurably,
  keys,
  notifyAudited,
}: Pick<Connection, 'runDurably' | 'keys' | 'notifyAudited'>) {
  const auditKeys = [keys.audit, keys.ownAudit, keys.auditChains]
  return async (
    script: Script,
    scriptKeys: readonly string[],
    args: readonly (string | number)[],
    audit: Entries,
  ): Promise<unknown> => {
    const entries = entriesOf(audit)
    const outcome = await runDurably(
      script,
      [...scriptKeys, ...auditKeys],
      [...args, entriesText(entries), auditRetention.entries, Date.now() - auditRetention.ageMs],
    )
    // As the script sees it (audited.lua).
    const isDone = Array.isArray(outcome) ? outcome.length === 0 : typeof outcome === 'number' && outcome > 0
    if (isDone) for (const entry of entries) notifyAudited(entry)
    return outcome
  }
}

function entriesOf(audit: Entries = []): readonly AuditEntry[] {
  return 'action' in audit ? [audit] : audit
}

function entriesText(entries: readonly AuditEntry[]): string {
  const texts = entries.map((entry) => {
    const text = JSON.stringify(entry)
    return [auditClassOf(entry), text, contentDigest(text)]
  })
  return JSON.stringify(texts)
}
