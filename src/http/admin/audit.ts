import { Readable } from 'node:stream'
import { auditData } from '../../accounts/audit-log.ts'
import type { AuditFilter } from '../../store/audit.ts'
import type { Operation } from '../operation.ts'
import type { AdminParts, PageQuery } from './accounts.ts'
import { auditEntry, auditQuery, pageOf } from './schemas.ts'

const mediaTypes = { csv: 'text/csv; charset=utf-8', jsonl: 'application/jsonl; charset=utf-8' } as const

/** The query as the schema lets it through, with the limit filled in. */
interface AuditQuery extends PageQuery, Partial<AuditFilter> {
  readonly format?: keyof typeof mediaTypes
}

export function auditOperations({ actsOf }: AdminParts): readonly Operation[] {
  return [
    {
      id: 'listAudit',
      method: 'GET',
      summary: 'Who did what to whom, newest first.',
      query: auditQuery,
      answers: {
        200: {
          description:
            'A page of the audit log, or with `format` all of it, as far as it passes `action` and `who`.',
          schema: pageOf(auditEntry),
          alternatives: ['text/csv', 'application/jsonl'],
        },
      },
      problems: ['request-invalid'],
      handler: async (request, reply) => {
        // The cast is sound: the schema has let nothing else through.
        const { cursor, limit, format, action, who } = request.query as AuditQuery
        const { audit } = actsOf(request)
        const filter = { action, who }
        if (format !== undefined) {
          reply.type(mediaTypes[format])
          reply.header('Content-Disposition', `attachment; filename="audit.${format}"`)
          return Readable.from(audit.export(format, filter))
        }
        const found = await audit.find({ filter, before: cursor, limit })
        const items = found.entries.map((entry) => ({ id: entry.position, ...auditData(entry) }))
        return { items, nextCursor: found.before ?? null }
      },
    },
  ]
}
