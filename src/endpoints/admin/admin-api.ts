import type { FastifyInstance } from 'fastify'
import type { AccountActionsOf } from '../../accounts/account-actions.ts'
import { type Operation, registerOperations } from '../operation.ts'
import { adminPaths } from '../own-paths.ts'
import { validateWithSchemas } from '../validate.ts'
import { type AdminOperationOptions, accountOperations, accountsOperations } from './accounts.ts'
import { type AdmissionOptions, adminActorOf, createAdmission } from './admission.ts'
import { auditOperations } from './audit.ts'
import { apiKeyOperations, secretKeyOperations } from './keys.ts'
import { sessionsOperations } from './sessions.ts'

export interface AdminOptions extends AdmissionOptions {
  readonly actionsOf: AccountActionsOf
  readonly hasPortal: boolean
}

type AdminOperations = Readonly<Record<string, readonly Operation[]>>

export interface AdminApi {
  /** The operations, by path. */
  readonly operations: AdminOperations
  /** Registers them in a scope of their own. */
  register(scope: FastifyInstance): void
}

/** The admin API: what Admins do in the portal, for programs. No cache may keep its answers. */
export function createAdminApi({ actionsOf, hasPortal, ...options }: AdminOptions): AdminApi {
  const operations = adminOperations({ actionsOf: (request) => actionsOf(adminActorOf(request)), hasPortal })
  const admission = createAdmission(options)

  function register(scope: FastifyInstance): void {
    validateWithSchemas(scope)
    scope.addHook('onSend', async (_request, reply) => {
      reply.header('Cache-Control', 'no-store')
    })
    for (const [path, ofPath] of Object.entries(operations)) {
      registerOperations(scope, path, { operations: ofPath, admission })
    }
  }

  return { operations, register }
}

function adminOperations(parts: AdminOperationOptions): AdminOperations {
  const all = {
    [adminPaths.accounts]: accountsOperations(parts),
    [adminPaths.account]: accountOperations(parts),
    [adminPaths.secretKey]: secretKeyOperations(parts),
    [adminPaths.apiKey]: apiKeyOperations(parts),
    [adminPaths.sessions]: sessionsOperations(parts),
    [adminPaths.audit]: auditOperations(parts),
  }
  const secured = Object.entries(all).map(([path, ofPath]) => [
    path,
    ofPath.map((operation) => ({ ...operation, security: 'admin' as const })),
  ])
  return Object.fromEntries(secured)
}
