import { sessionData } from '#accounts/account-data.ts'
import { count, objectSchema, text, time } from '#platform/json-schema.ts'
import { type AdminOperations, operation } from '../operation.ts'
import { type AdminOperationOptions, idOf, pageData, pageQuery, pageSchema } from './admin-request.ts'

export const session = objectSchema({
  id: text,
  createdAt: time,
  refreshedAt: time,
  expiresAt: time,
  refreshes: count,
  address: text,
  client: text,
})

const sessionsQuery = objectSchema({}, { session: { ...text, description: 'Only this session.' } })

export function sessionOperations({ actionsOf }: AdminOperationOptions) {
  return {
    '/api/v1/admin/accounts/:id/sessions': {
      GET: operation({
        id: 'listSessions',
        summary: 'Lists the active sessions of an account, newest first.',
        query: pageQuery,
        responses: { 200: { description: 'A page of sessions.', schema: pageSchema(session) } },
        problems: ['request-invalid', 'account-not-found'],
        handler: async (request) => {
          const { cursor, limit } = request.query
          return pageData(
            await actionsOf(request).sessions.page(idOf(request), { cursor, limit }),
            sessionData,
          )
        },
      }),
      DELETE: operation({
        id: 'endSessions',
        summary:
          'Revokes all sessions of an account with their access tokens, and signs its browsers out of the portal; or revokes one of them.',
        query: sessionsQuery,
        responses: { 204: { description: 'Revoked.' } },
        problems: ['request-invalid', 'account-not-found'],
        handler: async (request, reply) => {
          const { session: sessionId } = request.query
          const { sessions } = actionsOf(request)
          if (sessionId === undefined) await sessions.endAll(idOf(request))
          else await sessions.end(idOf(request), sessionId)
          reply.code(204)
        },
      }),
    },
  } satisfies Partial<AdminOperations>
}
