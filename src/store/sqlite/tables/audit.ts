import type { FoundAudit } from '../../audit.ts'
import {
  type AuditEntry,
  type AuditFilter,
  type LoggedAuditEntry,
  matchesFilter,
  needlesOf,
  parseAuditEntry,
} from '../../audit-entry.ts'
import type { Database } from '../database.ts'
import { openAuditChainTable } from './audit-chains.ts'

/** How many entries are scanned for one result: this blocks the process for some milliseconds. */
const scannedMax = 2_000

/** The audit table, of which the oldest rows are removed. Every function is to be called within a read or a write. */
export function openAuditTable({ prepare }: Database) {
  const chained = openAuditChainTable({ prepare })
  const selectMatching = prepare(
    `SELECT seq, entry FROM audit WHERE seq >= ? AND seq < ? AND (? = '' OR instr(entry, ?) > 0)
     AND (? = '' OR instr(lower(entry), ?) > 0) ORDER BY seq DESC LIMIT ?`,
  )
  // A query each: for both in one SQLite would read the whole table.
  const selectEnds = prepare(
    'SELECT (SELECT min(seq) FROM audit) AS first, (SELECT max(seq) FROM audit) AS last',
  )

  function append(entries: readonly AuditEntry[]): void {
    for (const entry of entries) chained.append(entry)
  }

  function find(filter: AuditFilter, before: string | undefined, limit: number): FoundAudit {
    const { first, last } = selectEnds.get() ?? {}
    if (!isPosition(before) || first === null) return { entries: [], before: undefined }
    const end = Math.min(Number(before ?? Number.MAX_SAFE_INTEGER), Number(last) + 1)
    const start = end - scannedMax
    const { exact, lower } = needlesOf(filter)
    const found = selectMatching.all(start, end, exact, exact, lower, lower, limit).map(toLogged)
    const isFull = found.length === limit
    const next = isFull ? found.at(-1)?.position : String(start)
    const entries = found.filter((entry) => matchesFilter(entry, filter))
    return { entries, before: isFull || start > Number(first) ? next : undefined }
  }

  return { append, find, chains: chained.chains, page: chained.page }
}

function isPosition(before: string | undefined): boolean {
  return before === undefined || /^\d{1,15}$/.test(before)
}

function toLogged({ seq, entry }: Readonly<Record<string, unknown>>): LoggedAuditEntry {
  return { ...parseAuditEntry(String(entry)), position: String(seq) }
}
