import { Readable } from 'node:stream'
import { auditData } from '../../accounts/audit-log.ts'
import type { Operation } from '../operation.ts'
import type { AdminParts, PageQuery } from './accounts.ts'
import { auditEntry, auditQuery, pageOf } from './schemas.ts'

const mediaTypes = { csv: 'text/csv; charset=utf-8', jsonl: 'application/jsonl; charset=utf-8' } as const

export function auditOperations({ actsOf }: AdminParts): readonly Operation[] {
  return [
    {
      id: 'listAudit',
      method: 'GET',
      summary: 'Who did what to whom, newest first.',
      query: auditQuery,
      answers: {
        200: {
          description: 'A page of the audit log, or with `format` all of it.',
          schema: pageOf(auditEntry),
          alternatives: ['text/csv', 'application/jsonl'],
        },
      },
      problems: ['request-invalid'],
      handler: async (request, reply) => {
        // The cast is sound: the schema has let nothing else through, and fills in the limit.
        const { cursor, limit, format } = request.query as PageQuery & { readonly format?: 'csv' | 'jsonl' }
        const { audit } = actsOf(request)
        if (format !== undefined) {
          reply.type(mediaTypes[format])
          reply.header('Content-Disposition', `attachment; filename="audit.${format}"`)
          return Readable.from(audit.export(format))
        }
        const entries = await audit.list({ before: cursor, limit: limit + 1 })
        const shown = entries.slice(0, limit)
        const items = shown.map((entry) => ({ id: entry.position, ...auditData(entry) }))
        return { items, nextCursor: entries.length > limit ? (shown.at(-1)?.position ?? null) : null }
      },
    },
  ]
}
