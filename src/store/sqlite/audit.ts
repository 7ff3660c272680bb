import { type AuditEntry, auditEntriesKept, type LoggedAuditEntry, parseAuditEntry } from '../audit.ts'
import type { Database } from './database.ts'

/** The audit table: rows are added, and the oldest go. Every function is to be called within a read or a write. */
export function openAudit({ prepare }: Database) {
  const insert = prepare('INSERT INTO audit (entry) VALUES (?)')
  const prune = prepare('DELETE FROM audit WHERE seq <= ?')
  const select = prepare('SELECT seq, entry FROM audit WHERE seq < ? ORDER BY seq DESC LIMIT ?')

  function append(entries: readonly AuditEntry[]): void {
    for (const entry of entries) {
      const { lastInsertRowid } = insert.run(JSON.stringify(entry))
      prune.run(Number(lastInsertRowid) - auditEntriesKept)
    }
  }

  function list(before: string | undefined, limit: number): readonly LoggedAuditEntry[] {
    if (before !== undefined && !/^\d{1,15}$/.test(before)) return []
    const end = before === undefined ? Number.MAX_SAFE_INTEGER : Number(before)
    return select
      .all(end, limit)
      .map(({ seq, entry }) => ({ ...parseAuditEntry(String(entry)), position: String(seq) }))
  }

  return { append, list }
}
