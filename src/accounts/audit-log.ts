import type { LoggedAuditEntry } from '../store/audit.ts'
import type { Store } from '../store/store.ts'

export interface AuditLog {
  /** Newest first, from the one before a position. */
  list(page: {
    readonly before: string | undefined
    readonly limit: number
  }): Promise<readonly LoggedAuditEntry[]>
  /**
   * The whole log, newest first, in chunks of text: CSV (RFC 4180, with a heading; what a spreadsheet would
   * take for a formula gets an apostrophe before it) or JSON lines.
   */
  export(format: 'csv' | 'jsonl'): AsyncGenerator<string>
}

/** How many entries are read at once for an export. */
const chunkEntries = 500

const columns = [
  ...['at', 'channel', 'actor', 'actorId', 'address', 'action', 'target', 'targetId', 'details'],
] as const

export function createAuditLog(store: Pick<Store, 'listAudit'>): AuditLog {
  async function* exportAll(format: 'csv' | 'jsonl'): AsyncGenerator<string> {
    if (format === 'csv') yield `${columns.join(',')}\r\n`
    const write = format === 'csv' ? csvLine : jsonLine
    for (let before: string | undefined; ; ) {
      const page = await store.listAudit({ before, limit: chunkEntries })
      const last = page.at(-1)
      if (!last) return
      yield page.map(write).join('')
      before = last.position
    }
  }

  return { list: (page) => store.listAudit(page), export: exportAll }
}

/** An entry as the admin API and the exports tell it. */
export function auditData({ at, actor, action, target, details }: LoggedAuditEntry) {
  return {
    at: new Date(at).toISOString(),
    channel: actor.channel,
    actor: actor.kind === 'account' ? actor.email : actor.kind === 'operator' ? actor.name : 'gatehouse',
    actorId: actor.kind === 'account' ? actor.id : null,
    address: actor.kind === 'account' ? actor.address : null,
    action,
    target: target?.email ?? null,
    targetId: target?.id ?? null,
    details,
  }
}

function jsonLine(entry: LoggedAuditEntry): string {
  return `${JSON.stringify(auditData(entry))}\n`
}

function csvLine(entry: LoggedAuditEntry): string {
  const data = auditData(entry)
  const cells = columns.map((name) => {
    const value = data[name]
    return typeof value === 'object' && value !== null ? JSON.stringify(value) : (value ?? '')
  })
  return `${cells.map(csvCell).join(',')}\r\n`
}

/** Quoted (RFC 4180); what a spreadsheet would take for a formula gets an apostrophe before it. */
function csvCell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n']/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
