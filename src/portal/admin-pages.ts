import { emailLengthMax } from '#accounts/account-input.ts'
import { actorOf, auditFiles } from '#accounts/audit-log.ts'
import { blockedSubjectData } from '#identity/issuers/subjects.ts'
import { dayMs, parseDay, startOfDay } from '#platform/time.ts'
import { type AuditFilter, auditActions } from '#store/audit-entry.ts'
import type { Form } from './forms/body.ts'
import { type FormRefusal, formRefusal } from './forms/refusal.ts'
import type { PortalOptions, SignedInContext } from './page-context.ts'
import { type CreatePages, type PortalPage, queryOf } from './portal-page.ts'
import { type PageResult, redirectTo } from './portal-response.ts'
import { auditPage } from './views/audit-page.ts'
import { type EventsView, eventsPage } from './views/events-page.ts'
import { emptyForm } from './views/frame.ts'
import { subjectsPage } from './views/subjects-page.ts'

const auditPageSize = 50

/**
 * Pages for Admins other than those of accounts: the audit log, blocked users of foreign issuers, and the receivers of
 * events.
 */
export const adminPages: CreatePages = (options) => [
  { path: '/audit', get: showAudit },
  { path: '/audit/export', get: exportAudit },
  ...subjectsPages(options),
  ...eventPages(options),
]

async function showAudit(context: SignedInContext): Promise<PageResult> {
  const filter = filterOf(context)
  const before = queryOf(context)('before') || undefined
  const found = await context.actions.audit.find({ filter, before, limit: auditPageSize })
  return context.show((frame) => auditPage(frame, { filter, ...found, isFirstPage: before === undefined }))
}

async function exportAudit(context: SignedInContext): Promise<PageResult> {
  const format = queryOf(context)('format') === 'jsonl' ? 'jsonl' : 'csv'
  const chunks = context.actions.audit.export(format, filterOf(context))
  return { kind: 'file', file: { ...auditFiles[format], chunks } }
}

function filterOf(context: SignedInContext): AuditFilter {
  const query = queryOf(context)
  const action = auditActions.find((name) => name === query('action'))
  const [from, to] = [parseDay(query('from')), parseDay(query('to'))]
  return {
    action,
    who: undefined,
    part: query('who').trim().slice(0, emailLengthMax) || undefined,
    from: from === undefined ? undefined : startOfDay(from),
    until: to === undefined ? undefined : startOfDay(to) + dayMs,
  }
}

const subjectsPageSize = 25

function subjectsPages({ subjectsOf }: PortalOptions): readonly PortalPage[] {
  const subjectsBy = ({ viewer, visitor }: SignedInContext) => subjectsOf(actorOf(viewer, visitor))

  async function show(context: SignedInContext, refusal?: FormRefusal): Promise<PageResult> {
    const cursor = queryOf(context)('cursor') || undefined
    const page = await subjectsBy(context).page({ cursor, limit: subjectsPageSize })
    const items = page.items.map(blockedSubjectData)
    const view = { ...page, items, isFirstPage: cursor === undefined, state: refusal?.state ?? emptyForm }
    return context.show((frame) => subjectsPage(frame, view), refusal)
  }

  return [
    { path: '/subjects', get: (context) => show(context) },
    {
      path: '/subjects/block',
      post: async (context) => {
        const isNew = await subjectsBy(context).block(subjectToBlock(context.form))
        return redirectTo('/subjects', isNew ? 'subject-blocked' : 'subject-was-blocked')
      },
      refused: (context, error) => show(context, formRefusal(context, error, subjectToBlock(context.form))),
    },
    {
      path: '/subjects/unblock',
      post: async (context) => {
        const { form } = context
        const given = { issuer: form('issuer'), subject: form('subject') }
        const wasBlocked = await subjectsBy(context).unblock(given)
        return redirectTo('/subjects', wasBlocked ? 'subject-unblocked' : 'subject-not-blocked')
      },
    },
  ]
}

function subjectToBlock(form: Form) {
  return { issuer: form('issuer').trim(), subject: form('subject') }
}

function eventPages({ receiversOf }: PortalOptions): readonly PortalPage[] {
  const path = '/events'
  const receiversBy = ({ viewer, visitor }: SignedInContext) => receiversOf(actorOf(viewer, visitor))

  async function show(context: SignedInContext, tested?: EventsView['tested']): Promise<PageResult> {
    const receivers = await receiversBy(context).list()
    return context.show((frame) => eventsPage(frame, { receivers, tested }))
  }

  return [
    { path, get: (context) => show(context) },
    {
      path: '/events/retry',
      post: async (context) =>
        redirectTo(path, retryNotices[await receiversBy(context).retry(context.form('receiver'))]),
    },
    {
      path: '/events/test',
      post: async (context) => {
        const tested = await receiversBy(context).test(context.form('receiver'))
        return tested ? show(context, tested) : redirectTo(path, 'receiver-gone')
      },
    },
  ]
}

const retryNotices = {
  retried: 'events-retried',
  new: 'receiver-new',
  unknown: 'receiver-gone',
} as const
