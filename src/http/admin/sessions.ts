import { sessionData } from '../../accounts/account-data.ts'
import type { Operation } from '../operation.ts'
import { type AdminParts, idOf, type PageQuery } from './accounts.ts'
import { pageOf, pageQuery, session, sessionsQuery } from './schemas.ts'

export function sessionsOperations({ actsOf }: AdminParts): readonly Operation[] {
  return [
    {
      id: 'listSessions',
      method: 'GET',
      summary: 'Lists the sessions of an account that have not ended, newest first.',
      query: pageQuery,
      answers: { 200: { description: 'A page of sessions.', schema: pageOf(session) } },
      problems: ['request-invalid', 'account-not-found'],
      handler: async (request) => {
        // The cast is sound: the schema has let nothing else through, and fills in the limit.
        const { cursor, limit } = request.query as PageQuery
        const open = await actsOf(request).sessions.list(idOf(request))
        // The cursor is a start: the sessions that began earlier come after it, whichever have ended meanwhile.
        const rest = cursor === undefined ? open : open.filter((one) => cursorOf(one) < cursor)
        const items = rest.slice(0, limit)
        const last = items.at(-1)
        const nextCursor = rest.length > limit && last ? cursorOf(last) : null
        return { items: items.map(sessionData), nextCursor }
      },
    },
    {
      id: 'endSessions',
      method: 'DELETE',
      summary: 'Ends all sessions of an account with their access tokens, or one of them.',
      query: sessionsQuery,
      answers: { 204: { description: 'They have ended.' } },
      problems: ['request-invalid', 'account-not-found'],
      handler: async (request, reply) => {
        // The cast is sound: the schema has let nothing else through.
        const { session: sessionId } = request.query as { readonly session?: string }
        const { sessions } = actsOf(request)
        if (sessionId === undefined) await sessions.endAll(idOf(request))
        else await sessions.end(idOf(request), sessionId)
        reply.code(204)
      },
    },
  ]
}

/** In the order of the list, backwards: by start, then by ID, which is listed upwards. */
function cursorOf({ createdAt, id }: { readonly createdAt: number; readonly id: string }): string {
  const reversed = [...id].map((letter) => String.fromCharCode(158 - letter.charCodeAt(0))).join('')
  return Buffer.from(`${String(createdAt).padStart(16, '0')}${reversed}`, 'latin1').toString('hex')
}
