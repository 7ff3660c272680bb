import { sessionData } from '#accounts/account-data.ts'
import type { AdminOperations } from '../operation.ts'
import { type AdminOperationOptions, idOf, type PageQuery } from './accounts.ts'
import { pageQuery, pageSchema, session, sessionsQuery } from './schemas.ts'

export function sessionsOperations({
  actionsOf,
}: AdminOperationOptions): AdminOperations<'/api/v1/admin/accounts/:id/sessions'> {
  return {
    GET: {
      id: 'listSessions',
      summary: 'Lists the active sessions of an account, newest first.',
      query: pageQuery,
      responses: { 200: { description: 'A page of sessions.', schema: pageSchema(session) } },
      problems: ['request-invalid', 'account-not-found'],
      handler: async (request) => {
        // The cast is sound: the schema has validated it, and fills in the limit.
        const { cursor, limit } = request.query as PageQuery
        const page = await actionsOf(request).sessions.page(idOf(request), { cursor, limit })
        return { items: page.items.map(sessionData), nextCursor: page.nextCursor ?? null }
      },
    },
    DELETE: {
      id: 'endSessions',
      summary:
        'Revokes all sessions of an account with their access tokens, and signs its browsers out of the portal; or revokes one of them.',
      query: sessionsQuery,
      responses: { 204: { description: 'Revoked.' } },
      problems: ['request-invalid', 'account-not-found'],
      handler: async (request, reply) => {
        // The cast is sound: the schema has validated it.
        const { session: sessionId } = request.query as { readonly session?: string }
        const { sessions } = actionsOf(request)
        if (sessionId === undefined) await sessions.endAll(idOf(request))
        else await sessions.end(idOf(request), sessionId)
        reply.code(204)
      },
    },
  }
}
