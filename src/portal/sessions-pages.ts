import type { SignedInContext } from './page-context.ts'
import type { CreatePages } from './portal-page.ts'
import { type PortalResponse, redirectTo } from './portal-response.ts'
import { readSessionsPage } from './sessions-part.ts'
import { sessionsPage } from './views/sessions.ts'

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
    await actions.sessions.endAll(viewer.account.id)
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
