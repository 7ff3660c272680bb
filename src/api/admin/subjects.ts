import type { FastifyRequest } from 'fastify'
import { type BlockedSubjects, blockedSubjectData, type Subject } from '#identity/issuers/subjects.ts'
import type { AdminOperations } from '../operation.ts'
import type { PageQuery } from './accounts.ts'
import { objectSchema, pageQuery, pageSchema } from './schemas.ts'

const text = { type: 'string' } as const

export const subject = objectSchema({
  issuer: { ...text, description: 'Name of the issuer in the config.' },
  subject: { ...text, description: 'The subject as its tokens have it.' },
})

export const blockedSubject = objectSchema({
  ...subject.properties,
  id: { ...text, description: 'The ID that backends get, and that is in the log.' },
  blockedAt: { ...text, format: 'date-time' },
})

/** What the operations on users of foreign issuers need. */
export interface SubjectOperationOptions {
  /** Actions on behalf of the calling Admin, who is named in the audit log. */
  subjectsOf(request: FastifyRequest): BlockedSubjects
}

export function subjectOperations({
  subjectsOf,
}: SubjectOperationOptions): AdminOperations<'/api/v1/admin/subjects'> {
  return {
    GET: {
      id: 'listBlockedSubjects',
      summary: 'Lists the blocked users of foreign issuers, newest first.',
      query: pageQuery,
      responses: { 200: { description: 'A page of blocked users.', schema: pageSchema(blockedSubject) } },
      problems: ['request-invalid'],
      handler: async (request) => {
        // The cast is sound: the schema has validated it, and fills in the limit.
        const { cursor, limit } = request.query as PageQuery
        const page = await subjectsOf(request).page({ cursor, limit })
        return { items: page.items.map(blockedSubjectData), nextCursor: page.nextCursor ?? null }
      },
    },
    POST: {
      id: 'blockSubject',
      summary: 'Blocks a user of a foreign issuer.',
      description: 'Its tokens are refused on every route, and its WebSockets are closed.',
      body: subject,
      responses: {
        200: { description: 'It was blocked already.', schema: subject },
        201: { description: 'It is blocked now.', schema: subject },
      },
      problems: ['request-invalid'],
      handler: async (request, reply) => {
        // The cast is sound: the schema has validated it.
        const blocked = request.body as Subject
        reply.code((await subjectsOf(request).block(blocked)) ? 201 : 200)
        return blocked
      },
    },
    DELETE: {
      id: 'unblockSubject',
      summary: 'Unblocks a user of a foreign issuer.',
      query: subject,
      responses: { 204: { description: 'It is not blocked now.' } },
      problems: ['request-invalid'],
      handler: async (request, reply) => {
        // The cast is sound: the schema has validated it.
        await subjectsOf(request).unblock(request.query as Subject)
        reply.code(204)
      },
    },
  }
}
