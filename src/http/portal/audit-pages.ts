import { type AuditFilter, auditPage } from '../../portal/audit.ts'
import { auditActions, type LoggedAuditEntry } from '../../store/audit.ts'
import type { Answer } from './answer.ts'
import { type Pages, queryOf } from './pages.ts'
import type { SignedInVisit } from './visit.ts'

const pageSize = 50
/** How many entries are read at once, and at most for a page, where few of them fit the filter. */
const readAtOnce = 500
const readMax = 5_000

/** Who did what to whom, for Admins. */
export const auditPages: Pages = () => [
  { path: '/audit', access: 'admin', get: showAudit },
  { path: '/audit/export', access: 'admin', get: exportAudit },
]

async function showAudit(visit: SignedInVisit): Promise<Answer> {
  const query = queryOf(visit)
  const action = auditActions.find((name) => name === query('action'))
  const filter = { action, who: query('who').trim() }
  const before = query('before') || undefined
  const found = await findEntries(visit, filter, before)
  return visit.show((frame) => auditPage(frame, { filter, ...found, isFirstPage: before === undefined }))
}

/** A page of what fits; with a filter that few fit it may be short and yet have an older one. */
async function findEntries(
  { acts }: SignedInVisit,
  filter: AuditFilter,
  first: string | undefined,
): Promise<{ readonly entries: readonly LoggedAuditEntry[]; readonly before: string | undefined }> {
  const entries: LoggedAuditEntry[] = []
  let before = first
  for (let read = 0; read < readMax; read += readAtOnce) {
    const chunk = await acts.audit.list({ before, limit: readAtOnce })
    for (const entry of chunk) {
      if (entries.length === pageSize) return { entries, before }
      if (fits(entry, filter)) entries.push(entry)
      before = entry.position
    }
    if (chunk.length < readAtOnce) return { entries, before: undefined }
  }
  return { entries, before }
}

function fits({ action, actor, target }: LoggedAuditEntry, filter: AuditFilter): boolean {
  if (filter.action !== undefined && action !== filter.action) return false
  if (filter.who === '') return true
  const who = filter.who.toLowerCase()
  const names =
    actor.kind === 'account' ? [actor.id, actor.email] : actor.kind === 'operator' ? [actor.name] : []
  return [...names, target?.id ?? '', target?.email ?? ''].some((name) => name.toLowerCase() === who)
}

async function exportAudit(visit: SignedInVisit): Promise<Answer> {
  const format = queryOf(visit)('format') === 'jsonl' ? 'jsonl' : 'csv'
  const type = format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson'
  return { kind: 'file', name: `audit.${format}`, type, chunks: visit.acts.audit.export(format) }
}
