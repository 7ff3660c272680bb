import { blockedSubjectData } from '#identity/issuers/subjects.ts'
import { objectSchema, text, time } from '#platform/json-schema.ts'
import { type AdminOperations, operation } from '../operation.ts'
import { type AdminOperationOptions, pageData, pageQuery, pageSchema } from './admin-request.ts'

export const subject = objectSchema({
  issuer: { ...text, description: 'Name of the issuer in the config.' },
  subject: { ...text, description: 'The subject, as in its tokens.' },
})

export const blockedSubject = objectSchema({
  ...subject.properties,
  id: { ...text, description: 'The ID that backends and the log get.' },
  blockedAt: time,
})

export function subjectOperations({ subjectsOf }: AdminOperationOptions) {
  return {
    '/api/v1/admin/subjects': {
      GET: operation({
        id: 'listBlockedSubjects',
        summary: 'Lists the blocked users of foreign issuers, newest first.',
        query: pageQuery,
        responses: { 200: { description: 'A page of blocked users.', schema: pageSchema(blockedSubject) } },
        problems: ['request-invalid'],
        handler: async (request) => {
          const { cursor, limit } = request.query
          return pageData(await subjectsOf(request).page({ cursor, limit }), blockedSubjectData)
        },
      }),
      POST: operation({
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
          const blocked = request.body
          reply.code((await subjectsOf(request).block(blocked)) ? 201 : 200)
          return blocked
        },
      }),
      DELETE: operation({
        id: 'unblockSubject',
        summary: 'Unblocks a user of a foreign issuer.',
        query: subject,
        responses: { 204: { description: 'It is not blocked now.' } },
        problems: ['request-invalid'],
        handler: async (request, reply) => {
          await subjectsOf(request).unblock(request.query)
          reply.code(204)
        },
      }),
    },
  } satisfies Partial<AdminOperations>
}
