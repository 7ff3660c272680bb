import type { SignedInContext } from './page-context.ts'
import { type CreatePages, queryOf } from './portal-page.ts'
import { type PortalResponse, redirectTo } from './portal-response.ts'
import { type SessionsList, sessionsPage } from './views/sessions.ts'

const pageSize = 25

/** The sessions of one's own account. */
export const sessionsPages: CreatePages = () => {
  async function showSessions(context: SignedInContext): Promise<PortalResponse> {
    const { actions, viewer } = context
    const [sessions, portalSessions] = await Promise.all([
      readSessionsPage(context, viewer.account.id),
      actions.sessions.listPortal(viewer.account.id),
    ])
    const current = viewer.session.id
    return context.show((frame) => sessionsPage(frame, { sessions, portalSessions, current }))
  }

  async function end({ actions, viewer, form }: SignedInContext): Promise<PortalResponse> {
    const hasEnded = await actions.sessions.end(viewer.account.id, form('session'))
    return redirectTo('/sessions', hasEnded ? 'session-ended' : 'session-gone')
  }

  async function endAll({ actions, viewer }: SignedInContext): Promise<PortalResponse> {
    await actions.sessions.endAllTokens(viewer.account.id)
    return redirectTo('/sessions', 'sessions-ended')
  }

  async function endPortal({ actions, viewer, form }: SignedInContext): Promise<PortalResponse> {
    const hasEnded = await actions.sessions.endPortal(viewer.account.id, form('session'))
    return redirectTo('/sessions', hasEnded ? 'session-ended' : 'session-gone')
  }

  return [
    { path: '/sessions', get: showSessions },
    { path: '/sessions/end', post: end },
    { path: '/sessions/end-all', post: endAll },
    { path: '/sessions/end-portal', post: endPortal },
  ]
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
