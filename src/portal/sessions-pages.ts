import type { SignedInContext } from './page-context.ts'
import { type CreatePages, queryOf } from './portal-page.ts'
import { type PageResult, redirectTo } from './portal-response.ts'
import { type SessionsList, sessionsPage } from './views/sessions-page.ts'

const pageSize = 25

/** The sessions of one's own account. */
export const sessionsPages: CreatePages = () => {
  async function showSessions(context: SignedInContext): Promise<PageResult> {
    const { actions, viewer } = context
    const [sessions, portalSessions] = await Promise.all([
      readSessionsPage(context, viewer.account.id),
      actions.sessions.listPortal(viewer.account.id),
    ])
    const current = viewer.session.id
    return context.show((frame) => sessionsPage(frame, { sessions, portalSessions, current }))
  }

  const page = '/sessions'
  return [
    { path: '/sessions', get: showSessions },
    { path: '/sessions/end', post: (context) => endSession(context, context.viewer.account.id, page) },
    {
      path: '/sessions/end-all',
      post: async ({ actions, viewer }) => {
        await actions.sessions.endAllTokens(viewer.account.id)
        return redirectTo(page, 'sessions-ended')
      },
    },
    {
      path: '/sessions/end-portal',
      post: (context) => endPortalSession(context, context.viewer.account.id, page),
    },
  ]
}

/** Ends the token session that the form names. @param page the page of the form */
export async function endSession(
  { actions, form }: SignedInContext,
  accountId: string,
  page: string,
): Promise<PageResult> {
  const hasEnded = await actions.sessions.end(accountId, form('session'))
  return redirectTo(page, hasEnded ? 'session-ended' : 'session-gone')
}

/** Ends the portal session that the form names. @param page the page of the form */
export async function endPortalSession(
  { actions, form }: SignedInContext,
  accountId: string,
  page: string,
): Promise<PageResult> {
  const hasEnded = await actions.sessions.endPortal(accountId, form('session'))
  return redirectTo(page, hasEnded ? 'session-ended' : 'session-gone')
}

/**
 * The page of an account's sessions that the request's query asks for (`cursor`), newest first.
 * @throws GatehouseError `request-invalid` (field `cursor`)
 */
export async function readSessionsPage(context: SignedInContext, accountId: string): Promise<SessionsList> {
  const cursor = queryOf(context)('cursor') || undefined
  const page = await context.actions.sessions.page(accountId, { cursor, limit: pageSize })
  return { ...page, isFirstPage: cursor === undefined }
}
