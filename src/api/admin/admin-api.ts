import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { AccountActions, AccountActionsOf } from '#accounts/account-actions.ts'
import { principalOf } from '#gateway/gate/outcome.ts'
import { arrivalOf } from '#gateway/server/arrival.ts'
import type { BlockedSubjectsOf } from '#identity/issuers/subjects.ts'
import type { Clock } from '#platform/clock.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import { type AdminOperations, registerOperations } from '../operation.ts'
import { usageOperations } from '../usage.ts'
import { type AdminOperationOptions, accountOperations, idOf } from './accounts.ts'
import { type AdmissionOptions, actorOf, adminRoute, createAdmission } from './admission.ts'
import { auditOperations } from './audit.ts'
import { keyOperations } from './keys.ts'
import { sessionOperations } from './sessions.ts'
import { type SubjectOperationOptions, subjectOperations } from './subjects.ts'

export interface AdminOptions extends AdmissionOptions {
  readonly actionsOf: AccountActionsOf
  readonly subjectsOf: BlockedSubjectsOf
  /** Whether a session was started by signing in to the portal, and not with keys. */
  isPortalSession(sessionId: string): Promise<boolean>
  readonly hasSetupLinks: boolean
  readonly clock: Clock
}

const confirmInPortal =
  'Whoever is signed in to the portal changes their own account and its keys there, where it asks for the password.'

export interface AdminApi {
  readonly operations: AdminOperations
  /** Registers them in their own scope. */
  register(scope: FastifyInstance): void
}

/** The admin API: the Admin actions of the portal, for programs. Its responses are never cached. */
export function createAdminApi({
  actionsOf,
  subjectsOf,
  isPortalSession,
  hasSetupLinks,
  clock,
  ...options
}: AdminOptions): AdminApi {
  async function actionsToChange(request: FastifyRequest): Promise<AccountActions> {
    const { accountId, sessionId } = principalOf(arrivalOf(request.raw).outcome) ?? {}
    if (idOf(request) === accountId && sessionId !== undefined && (await isPortalSession(sessionId)))
      throw new GatehouseError('own-account', { detail: confirmInPortal })
    return actionsOf(actorOf(request))
  }

  const operations = adminOperations({
    actionsOf: (request) => actionsOf(actorOf(request)),
    actionsToChange,
    subjectsOf: (request) => subjectsOf(actorOf(request)),
    hasSetupLinks,
    clock,
  })
  const admission = createAdmission(options, adminRoute)

  function register(scope: FastifyInstance): void {
    registerOperations(scope, operations, admission)
  }

  return { operations, register }
}

function adminOperations(parts: AdminOperationOptions & SubjectOperationOptions): AdminOperations {
  return {
    ...accountOperations(parts),
    ...keyOperations(parts),
    ...sessionOperations(parts),
    ...usageOperations(parts),
    ...subjectOperations(parts),
    ...auditOperations(parts),
  }
}
