import type { FastifyInstance } from 'fastify'
import type { ActsOf } from '../../accounts/acts.ts'
import { type Operation, ownOperations } from '../operation.ts'
import { adminPaths } from '../own-paths.ts'
import { acceptDescribedOnly } from '../validate.ts'
import { type AdminParts, accountOperations, accountsOperations } from './accounts.ts'
import { type AdmissionOptions, adminOf, createAdmission } from './admit.ts'
import { auditOperations } from './audit.ts'
import { apiKeyOperations, secretKeyOperations } from './keys.ts'
import { sessionsOperations } from './sessions.ts'

export interface AdminOptions extends AdmissionOptions {
  readonly actsOf: ActsOf
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
export function createAdminApi({ actsOf, hasPortal, ...options }: AdminOptions): AdminApi {
  const operations = adminOperations({ actsOf: (request) => actsOf(adminOf(request)), hasPortal })
  const admission = createAdmission(options)

  function register(scope: FastifyInstance): void {
    acceptDescribedOnly(scope)
    scope.addHook('onSend', async (_request, reply) => {
      reply.header('Cache-Control', 'no-store')
    })
    for (const [path, ofPath] of Object.entries(operations)) {
      ownOperations(scope, path, { operations: ofPath, admission })
    }
  }

  return { operations, register }
}

function adminOperations(parts: AdminParts): AdminOperations {
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
