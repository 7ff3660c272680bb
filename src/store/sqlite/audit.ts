import { type AuditStore, auditClasses, type EventStore, type FoundAudit } from '../audit.ts'
import {
  type AuditFilter,
  isPast,
  type LoggedAuditEntry,
  matchesFilter,
  needlesOf,
  parseAuditEntry,
  skippedFrom,
} from '../audit-entry.ts'
import type { Database } from './database.ts'
import type { Writer } from './writer.ts'

/** How many entries are scanned for one result: this blocks the process for some milliseconds. */
const scannedMax = 2_000

/** How many IDs that need not be kept any more are removed when one is added. */
const removedPerAddition = 2

/** The audit log, whose entries are written together with the changes that they describe. */
export function createAuditStore(
  { prepare, read, writeUnsynced }: Database,
  { writeAudited, changeRow, onAudit }: Writer,
): AuditStore & EventStore {
  const selectMatching = prepare(
    `SELECT seq, entry FROM audit WHERE seq >= ? AND seq < ? AND (? = '' OR instr(entry, ?) > 0)
     AND (? = '' OR instr(lower(entry), ?) > 0) ORDER BY seq DESC LIMIT ?`,
  )
  // Two queries, as SQLite would read the whole table for both in one.
  const selectEnds = prepare(
    'SELECT (SELECT min(seq) FROM audit) AS first, (SELECT max(seq) FROM audit) AS last',
  )
  const selectFirstFrom = prepare('SELECT seq, entry FROM audit WHERE seq >= ? ORDER BY seq LIMIT 1')
  const selectChain = prepare('SELECT trimmed, last FROM audit_chains WHERE class = ?')
  const selectPage = prepare(
    'SELECT seq, entry, link FROM audit WHERE class = ? AND seq > ? ORDER BY seq LIMIT ?',
  )
  const selectReceivers = prepare('SELECT id, state FROM event_receivers')
  const selectReceiver = prepare('SELECT state FROM event_receivers WHERE id = ?')
  const saveReceiver = prepare(
    'INSERT INTO event_receivers (id, state) VALUES (?, ?) ON CONFLICT DO UPDATE SET state = excluded.state',
  )
  const removeReceiver = prepare('DELETE FROM event_receivers WHERE id = ?')
  const selectEntries = prepare('SELECT seq, entry FROM audit WHERE seq > ? ORDER BY seq LIMIT ?')
  const insertOnce = prepare('INSERT OR IGNORE INTO audit_once (id, kept_until) VALUES (?, ?)')
  const removeEnded = prepare(
    'DELETE FROM audit_once WHERE id IN (SELECT id FROM audit_once WHERE kept_until < ? ORDER BY kept_until LIMIT ?)',
  )

  /** The position of the first entry of that time or later, by binary search, as entries are in the order of time. */
  function firstSince(at: number, first: number, last: number): number {
    let [low, high] = [first, last + 1]
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      const row = selectFirstFrom.get(middle)
      if (!row || parseAuditEntry(String(row.entry)).at >= at) high = middle
      else low = Number(row.seq) + 1
    }
    return low
  }

  function find(filter: AuditFilter, before: string | undefined, limit: number): FoundAudit {
    const { first, last } = selectEnds.get() ?? {}
    if (!isPosition(before) || first === null) return { entries: [], before: undefined }
    const skipped = before === undefined ? skippedFrom(filter) : undefined
    const newest = skipped === undefined ? Number(last) + 1 : firstSince(skipped, Number(first), Number(last))
    const end = Math.min(Number(before ?? Number.MAX_SAFE_INTEGER), newest)
    const start = end - scannedMax
    const { exact, lower } = needlesOf(filter)
    const found = selectMatching.all(start, end, exact, exact, lower, lower, limit).map(toLogged)
    const isFull = found.length === limit
    const next = isFull ? found.at(-1)?.position : String(start)
    const entries = found.filter((entry) => matchesFilter(entry, filter))
    const hasMore = !isPast(found, filter) && (isFull || start > Number(first))
    return { entries, before: hasMore ? next : undefined }
  }

  return {
    appendAudit: (entry) =>
      writeAudited(
        () => {},
        () => [],
        entry,
      ),
    findAudit: async ({ filter, before, limit }) => read(() => find(filter, before, limit)),
    readAuditChains: async () =>
      read(() =>
        auditClasses.map((name) => {
          const { trimmed = '', last = '' } = selectChain.get(name) ?? {}
          return { class: name, trimmed: String(trimmed), last: String(last) }
        }),
      ),
    readAuditChain: async ({ class: name, after, limit }) =>
      read(() =>
        selectPage.all(name, Number(after ?? 0), limit).map(({ seq, entry, link }) => ({
          position: String(seq),
          text: String(entry),
          link: String(link),
        })),
      ),
    onAudit,
    readReceivers: async () =>
      read(() => new Map(selectReceivers.all().map(({ id, state }) => [String(id), String(state)]))),
    replaceReceiver: ({ id, before, after }) =>
      writeUnsynced(() => {
        if (String(selectReceiver.get(id)?.state ?? '') !== before) return false
        if (after === '') removeReceiver.run(id)
        else saveReceiver.run(id, after)
        return true
      }),
    readAuditAfter: async ({ after, limit }) =>
      read(() =>
        selectEntries
          .all(Number(after), limit)
          .map(({ seq, entry }) => ({ position: String(seq), text: String(entry) })),
      ),
    appendAuditOnce: ({ id, keptUntil, entry }) =>
      changeRow(
        () => {
          removeEnded.run(entry.at, removedPerAddition)
          return insertOnce.run(id, keptUntil)
        },
        undefined,
        entry,
      ),
  }
}

function isPosition(before: string | undefined): boolean {
  return before === undefined || /^\d{1,15}$/.test(before)
}

function toLogged({ seq, entry }: Readonly<Record<string, unknown>>): LoggedAuditEntry {
  return { ...parseAuditEntry(String(entry)), position: String(seq) }
}
