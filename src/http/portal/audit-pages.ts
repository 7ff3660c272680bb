import { auditFiles } from '../../accounts/audit-log.ts'
import { auditPage } from '../../portal/audit.ts'
import { type AuditFilter, auditActions } from '../../store/audit.ts'
import type { Answer } from './answer.ts'
import { type Pages, queryOf } from './pages.ts'
import type { SignedInVisit } from './visit.ts'

const pageSize = 50

/** Pages of the audit log, for Admins. */
export const auditPages: Pages = () => [
  { path: '/audit', get: showAudit },
  { path: '/audit/export', get: exportAudit },
]

async function showAudit(visit: SignedInVisit): Promise<Answer> {
  const filter = filterOf(visit)
  const before = queryOf(visit)('before') || undefined
  const found = await visit.acts.audit.find({ filter, before, limit: pageSize })
  return visit.show((frame) => auditPage(frame, { filter, ...found, isFirstPage: before === undefined }))
}

async function exportAudit(visit: SignedInVisit): Promise<Answer> {
  const format = queryOf(visit)('format') === 'jsonl' ? 'jsonl' : 'csv'
  const chunks = visit.acts.audit.export(format, filterOf(visit))
  return { kind: 'file', file: { ...auditFiles[format], chunks } }
}

function filterOf(visit: SignedInVisit): AuditFilter {
  const query = queryOf(visit)
  const action = auditActions.find((name) => name === query('action'))
  return { action, who: query('who').trim() || undefined }
}
