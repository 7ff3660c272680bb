import type { FastifyInstance } from 'fastify'
import type { ActsOf } from '../../accounts/acts.ts'
import { type Operation, ownOperations } from '../operation.ts'
import { adminPaths } from '../own-paths.ts'
import { type AdminParts, accountOperations, accountsOperations } from './accounts.ts'
import { type AdmissionOptions, adminOf, createAdmission } from './admit.ts'
import { auditOperations } from './audit.ts'
import { apiKeyOperations, secretKeyOperations } from './keys.ts'
import { sessionsOperations } from './sessions.ts'

export interface AdminOptions extends AdmissionOptions {
  readonly actsOf: ActsOf
  readonly hasPortal: boolean
}

/** The operations of the admin API, by their paths. */
export function adminOperations(parts: AdminParts): Readonly<Record<string, readonly Operation[]>> {
  return {
    [adminPaths.accounts]: accountsOperations(parts),
    [adminPaths.account]: accountOperations(parts),
    [adminPaths.secretKey]: secretKeyOperations(parts),
    [adminPaths.apiKey]: apiKeyOperations(parts),
    [adminPaths.sessions]: sessionsOperations(parts),
    [adminPaths.audit]: auditOperations(parts),
  }
}

/** The admin API: what Admins do in the portal, for programs. Nothing of it may be kept on the way. */
export function registerAdmin(app: FastifyInstance, { actsOf, hasPortal, ...options }: AdminOptions): void {
  const admit = createAdmission(options)
  const parts: AdminParts = { actsOf: (request) => actsOf(adminOf(request)), hasPortal }
  app.addHook('onSend', async (_request, reply) => {
    reply.header('Cache-Control', 'no-store')
  })
  for (const [path, operations] of Object.entries(adminOperations(parts))) {
    ownOperations(app, path, { operations, admit })
  }
}
