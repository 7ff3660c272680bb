import { emailLengthMax } from '#accounts/account-input.ts'
import { auditData, auditFiles } from '#accounts/audit-log.ts'
import { keysOf } from '#platform/json.ts'
import { objectSchema, text, textOrNull, time } from '#platform/json-schema.ts'
import { auditActions } from '#store/audit-entry.ts'
import { page, pageSchema } from '../list-page.ts'
import { type AdminOperations, operation } from '../operation.ts'
import { sendFile } from '../reply.ts'
import type { AdminOperationOptions } from './account-operations.ts'

export const auditEntry = objectSchema({
  id: text,
  at: time,
  channel: { enum: ['portal', 'api', 'cli', 'system'] },
  actor: text,
  actorId: textOrNull,
  address: textOrNull,
  action: { enum: auditActions },
  target: textOrNull,
  targetId: textOrNull,
  details: { type: 'object', additionalProperties: { type: ['string', 'number', 'boolean'] } },
})

const formats = keysOf(auditFiles)

const auditQuery = objectSchema(
  {},
  {
    ...page,
    // A position in either store: anything else would read as the end of the log.
    cursor: { ...page.cursor, pattern: '^\\d{1,15}(-\\d{1,15})?$' },
    action: { enum: auditActions, description: 'Only entries with this action.' },
    who: {
      ...text,
      minLength: 1,
      maxLength: emailLengthMax,
      description:
        'Only what this person did, or what was done to them: a full e-mail, an ID or the name of an operator.',
    },
    format: { enum: formats, description: 'All matching entries, as a file.' },
  },
)

export function auditOperations({ actionsOf }: AdminOperationOptions) {
  return {
    '/api/v1/admin/audit': {
      GET: operation({
        id: 'listAudit',
        summary: 'Lists entries of the audit log, newest first.',
        query: auditQuery,
        responses: {
          200: {
            description:
              'A page of the audit log, or with `format` all of it: the entries that match `action` and `who`.',
            schema: pageSchema(auditEntry),
            alternatives: ['text/csv', 'application/jsonl'],
          },
        },
        problems: ['request-invalid'],
        handler: async (request, reply) => {
          const { cursor, limit, format, action, who } = request.query
          const { audit } = actionsOf(request)
          const filter = { action, who }
          if (format !== undefined) {
            return sendFile(reply, { ...auditFiles[format], chunks: audit.export(format, filter) })
          }
          const found = await audit.find({ filter, before: cursor, limit })
          const items = found.entries.map((entry) => ({ id: entry.position, ...auditData(entry) }))
          return { items, nextCursor: found.before ?? null }
        },
      }),
    },
  } satisfies Partial<AdminOperations>
}
