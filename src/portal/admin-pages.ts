import { actorOf } from '#accounts/audit-entry-factory.ts'
import { auditFiles } from '#accounts/audit-log.ts'
import { type BlockedSubjects, blockedSubjectData } from '#identity/issuers/subjects.ts'
import { type AuditFilter, auditActions } from '#store/audit-entry.ts'
import { formRefusal } from './form-refusal.ts'
import type { SignedInContext } from './page-context.ts'
import { type CreatePages, queryOf } from './portal-page.ts'
import { type PortalResponse, redirectTo } from './portal-response.ts'
import { auditPage } from './views/audit.ts'
import { emptyForm, type FormState } from './views/frame.ts'
import { type SubjectsView, subjectsPage } from './views/subjects.ts'

const auditPageSize = 50

/** Pages of the audit log, for Admins. */
export const auditPages: CreatePages = () => [
  { path: '/audit', get: showAudit },
  { path: '/audit/export', get: exportAudit },
]

async function showAudit(context: SignedInContext): Promise<PortalResponse> {
  const filter = filterOf(context)
  const before = queryOf(context)('before') || undefined
  const found = await context.actions.audit.find({ filter, before, limit: auditPageSize })
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

const subjectsPageSize = 25

/** Users of foreign issuers that are blocked, for Admins. */
export const subjectsPages: CreatePages = ({ subjectsOf }) => {
  function subjectsBy({ viewer, visitor }: SignedInContext): BlockedSubjects {
    return subjectsOf(actorOf(viewer, visitor))
  }

  async function viewOf(context: SignedInContext, state: FormState): Promise<SubjectsView> {
    const cursor = queryOf(context)('cursor') || undefined
    const page = await subjectsBy(context).page({ cursor, limit: subjectsPageSize })
    return { ...page, items: page.items.map(blockedSubjectData), isFirstPage: cursor === undefined, state }
  }

  async function show(context: SignedInContext): Promise<PortalResponse> {
    const view = await viewOf(context, emptyForm)
    return context.show((frame) => subjectsPage(frame, view))
  }

  async function block(context: SignedInContext): Promise<PortalResponse> {
    const { form } = context
    const given = { issuer: form('issuer').trim(), subject: form('subject') }
    try {
      const isNew = await subjectsBy(context).block(given)
      return redirectTo('/subjects', isNew ? 'subject-blocked' : 'subject-was-blocked')
    } catch (error) {
      const refusal = formRefusal(error, given)
      const view = await viewOf(context, refusal.state)
      return context.show((frame) => subjectsPage(frame, view), refusal)
    }
  }

  async function unblock(context: SignedInContext): Promise<PortalResponse> {
    const { form } = context
    const given = { issuer: form('issuer'), subject: form('subject') }
    const wasBlocked = await subjectsBy(context).unblock(given)
    return redirectTo('/subjects', wasBlocked ? 'subject-unblocked' : 'subject-not-blocked')
  }

  return [
    { path: '/subjects', get: show },
    { path: '/subjects/block', post: block },
    { path: '/subjects/unblock', post: unblock },
  ]
}
