import { sessionsPage } from '../../portal/sessions.ts'
import { type Answer, goTo } from './answer.ts'
import type { Pages } from './pages.ts'
import { pageOfSessions } from './sessions-part.ts'
import type { SignedInVisit } from './visit.ts'

/** The sessions of one's own account. */
export const sessionsPages: Pages = () => {
  async function showSessions(visit: SignedInVisit): Promise<Answer> {
    const { acts, viewer } = visit
    const [sessions, portalSessions] = await Promise.all([
      pageOfSessions(visit, viewer.account.id),
      acts.sessions.listPortal(viewer.account.id),
    ])
    const current = viewer.session.id
    return visit.show((frame) => sessionsPage(frame, { sessions, portalSessions, current }))
  }

  async function end({ acts, viewer, form }: SignedInVisit): Promise<Answer> {
    const hasEnded = await acts.sessions.end(viewer.account.id, form('session'))
    return goTo('/sessions', hasEnded ? 'session-ended' : 'session-gone')
  }

  async function endAll({ acts, viewer }: SignedInVisit): Promise<Answer> {
    await acts.sessions.endAll(viewer.account.id)
    return goTo('/sessions', 'sessions-ended')
  }

  async function endPortal({ acts, viewer, form }: SignedInVisit): Promise<Answer> {
    const hasEnded = await acts.sessions.endPortal(viewer.account.id, form('session'))
    return goTo('/sessions', hasEnded ? 'session-ended' : 'session-gone')
  }

  return [
    { path: '/sessions', get: showSessions },
    { path: '/sessions/end', post: end },
    { path: '/sessions/end-all', post: endAll },
    { path: '/sessions/end-portal', post: endPortal },
  ]
}
