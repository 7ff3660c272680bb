import type { FastifyRequest } from 'fastify'
import type { AccountActions, AccountActionsOf } from '#accounts/account-actions.ts'
import { arrivalOf } from '#gateway/arrival/arrival.ts'
import { principalOf } from '#gateway/arrival/outcome.ts'
import type { BlockedSubjectsOf } from '#identity/issuers/subjects.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import type { Clock } from '#platform/time.ts'
import type { AdminOperations } from '../operation.ts'
import { usageOperations } from '../usage-operations.ts'
import { type AdminOperationOptions, accountOperations, idOf } from './account-operations.ts'
import { actorOf } from './admin-admission.ts'
import { applyOperations } from './apply-operations.ts'
import { auditOperations } from './audit-operations.ts'
import { keyOperations } from './key-operations.ts'
import { sessionOperations } from './session-operations.ts'
import { type SubjectOperationOptions, subjectOperations } from './subject-operations.ts'

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
  const { actionsOf, subjectsOf, isPortalSession } = options

  async function mayChangeOwn({ raw }: FastifyRequest): Promise<boolean> {
    const { sessionId } = principalOf(arrivalOf(raw).outcome) ?? {}
    return sessionId === undefined || !(await isPortalSession(sessionId))
  }

  async function actionsToChange(request: FastifyRequest): Promise<AccountActions> {
    const { accountId } = principalOf(arrivalOf(request.raw).outcome) ?? {}
    if (idOf(request) === accountId && !(await mayChangeOwn(request)))
      throw new GatehouseError('own-account', { detail: confirmInPortal })
    return actionsOf(actorOf(request))
  }

  const parts: AdminOperationOptions & SubjectOperationOptions = {
    ...options,
    actionsOf: (request) => actionsOf(actorOf(request)),
    actionsToChange,
    mayChangeOwn,
    subjectsOf: (request) => subjectsOf(actorOf(request)),
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
