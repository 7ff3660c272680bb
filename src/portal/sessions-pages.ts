import type { SignedInContext } from './page-context.ts'
import { type CreatePages, queryOf } from './portal-page.ts'
import { type PageResult, redirectTo } from './portal-response.ts'
import { type SessionsList, sessionsPage } from './views/sessions-page.ts'

/** The sessions of one's own account. */
export const sessionsPages: CreatePages = () => [
  {
    path: '/sessions',
    get: async (context) => {
      const { account, session } = context.viewer
      const [sessions, portalSessions] = await Promise.all([
        readSessionsPage(context, account.id),
        context.actions.sessions.listPortal(account.id),
      ])
      return context.show((frame) => sessionsPage(frame, { sessions, portalSessions, current: session.id }))
    },
  },
  {
    path: '/sessions/end',
    post: async ({ actions, viewer, form }) =>
      sessionEnded(await actions.sessions.end(viewer.account.id, form('session'))),
  },
  {
    path: '/sessions/end-all',
    post: async ({ actions, viewer }) => {
      await actions.sessions.endAllTokens(viewer.account.id)
      return redirectTo('/sessions', 'sessions-ended')
    },
  },
  {
    path: '/sessions/end-portal',
    post: async ({ actions, viewer, form }) =>
      sessionEnded(await actions.sessions.endPortal(viewer.account.id, form('session'))),
  },
]

/** The notices after a form that ends one session: the session has ended, or had already ended before. */
export const sessionNotices = ['session-ended', 'session-gone'] as const

function sessionEnded(hasEnded: boolean): PageResult {
  const [ended, gone] = sessionNotices
  return redirectTo('/sessions', hasEnded ? ended : gone)
}

const sessionsPerPage = 25

/**
 * The page of an account's sessions that the request's query asks for (`cursor`), newest first.
 * @throws GatehouseError `request-invalid` (field `cursor`)
 */
export async function readSessionsPage(context: SignedInContext, accountId: string): Promise<SessionsList> {
  const cursor = queryOf(context)('cursor') || undefined
  const page = await context.actions.sessions.page(accountId, { cursor, limit: sessionsPerPage })
  return { ...page, isFirstPage: cursor === undefined }
}
