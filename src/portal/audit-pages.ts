import { auditFiles } from '#accounts/audit-log.ts'
import { type AuditFilter, auditActions } from '#store/audit-entry.ts'
import type { SignedInContext } from './page-context.ts'
import { type CreatePages, queryOf } from './portal-page.ts'
import type { PortalResponse } from './portal-response.ts'
import { auditPage } from './views/audit.ts'

const pageSize = 50

/** Pages of the audit log, for Admins. */
export const auditPages: CreatePages = () => [
  { path: '/audit', get: showAudit },
  { path: '/audit/export', get: exportAudit },
]

async function showAudit(context: SignedInContext): Promise<PortalResponse> {
  const filter = filterOf(context)
  const before = queryOf(context)('before') || undefined
  const found = await context.actions.audit.find({ filter, before, limit: pageSize })
  return context.show((frame) => auditPage(frame, { filter, ...found, isFirstPage: before === undefined }))
}

async function exportAudit(context: SignedInContext): Promise<PortalResponse> {
  const format = queryOf(context)('format') === 'jsonl' ? 'jsonl' : 'csv'
  const chunks = context.actions.audit.export(format, filterOf(context))
  return { kind: 'file', file: { ...auditFiles[format], chunks } }
}

function filterOf(context: SignedInContext): AuditFilter {
  const query = queryOf(context)
  const action = auditActions.find((name) => name === query('action'))
  return { action, who: query('who').trim() || undefined }
}
