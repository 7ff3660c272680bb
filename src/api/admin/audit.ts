import { type AuditFormat, auditData, auditFiles } from '#accounts/audit-log.ts'
import type { AuditFilter } from '#store/audit-entry.ts'
import type { AdminOperations } from '../operation.ts'
import { sendFile } from '../reply.ts'
import type { AdminOperationOptions, PageQuery } from './accounts.ts'
import { auditEntry, auditQuery, pageSchema } from './schemas.ts'

/** The query as validated by the schema, with the limit filled in. */
interface AuditQuery extends PageQuery, Partial<AuditFilter> {
  readonly format?: AuditFormat
}

export function auditOperations({
  actionsOf,
}: AdminOperationOptions): AdminOperations<'/api/v1/admin/audit'> {
  return {
    GET: {
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
        // The cast is sound: the schema has validated it.
        const { cursor, limit, format, action, who } = request.query as AuditQuery
        const { audit } = actionsOf(request)
        const filter = { action, who }
        if (format !== undefined) {
          return sendFile(reply, { ...auditFiles[format], chunks: audit.export(format, filter) })
        }
        const found = await audit.find({ filter, before: cursor, limit })
        const items = found.entries.map((entry) => ({ id: entry.position, ...auditData(entry) }))
        return { items, nextCursor: found.before ?? null }
      },
    },
  }
}
