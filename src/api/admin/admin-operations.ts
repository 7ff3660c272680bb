import type { FastifyRequest } from 'fastify'
import type { AccountActions, AccountActionsOf } from '#accounts/account-actions.ts'
import { emailLengthMax } from '#accounts/account-input.ts'
import { auditData, auditFiles } from '#accounts/audit-log.ts'
import { arrivalOf } from '#gateway/arrival/endpoint-arrival.ts'
import { principalOf } from '#gateway/arrival/outcome.ts'
import type { BlockedSubjectsOf } from '#identity/issuers/subjects.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { keysOf } from '#platform/json.ts'
import { objectSchema, text, textOrNull, time } from '#platform/json-schema.ts'
import type { Clock } from '#platform/time.ts'
import { auditActions } from '#store/audit-entry.ts'
import { actorOf } from '../admission.ts'
import { type AdminOperations, operation } from '../operation.ts'
import { sendFile } from '../replies.ts'
import { accountOperations } from './account-operations.ts'
import { type AdminOperationOptions, idOf, page, pageSchema } from './admin-request.ts'
import { applyOperations } from './apply-operations.ts'
import { keyOperations } from './key-operations.ts'
import { sessionOperations } from './session-operations.ts'
import { subjectOperations } from './subject-operations.ts'
import { usageOperations } from './usage-operations.ts'

export interface AdminOptions {
  readonly actionsOf: AccountActionsOf
  readonly subjectsOf: BlockedSubjectsOf
  /** Whether a session was started by signing in to the portal, and not with keys. */
  isPortalSession(sessionId: string): Promise<boolean>
  readonly hasSetupLinks: boolean
  readonly clock: Clock
}

const confirmInPortal =
  'People who are signed in to the portal change their own account and keys there, where it asks for the password.'

/** The admin API: the Admin actions of the portal, for programs. */
export function adminOperations(options: AdminOptions): AdminOperations {
  const { actionsOf, subjectsOf, isPortalSession, hasSetupLinks, clock } = options

  async function mayChangeOwn({ raw }: FastifyRequest): Promise<boolean> {
    const { sessionId } = principalOf(arrivalOf(raw).outcome) ?? {}
    return sessionId === undefined || !(await isPortalSession(sessionId))
  }

  async function actionsWithoutPassword(request: FastifyRequest): Promise<AccountActions> {
    const { accountId } = principalOf(arrivalOf(request.raw).outcome) ?? {}
    if (idOf(request) === accountId && !(await mayChangeOwn(request)))
      throw new GatehouseError('own-account', { detail: confirmInPortal })
    return actionsOf(actorOf(request))
  }

  const parts: AdminOperationOptions = {
    actionsOf: (request) => actionsOf(actorOf(request)),
    subjectsOf: (request) => subjectsOf(actorOf(request)),
    actionsWithoutPassword,
    mayChangeOwn,
    hasSetupLinks,
    clock,
  }
  return {
    ...accountOperations(parts),
    ...keyOperations(parts),
    ...applyOperations(parts),
    ...sessionOperations(parts),
    ...usageOperations(parts),
    ...subjectOperations(parts),
    ...auditOperations(parts),
  }
}

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
    // Matches the positions of both stores. Any other text would be taken for the end of the log.
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

function auditOperations({ actionsOf }: AdminOperationOptions) {
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
