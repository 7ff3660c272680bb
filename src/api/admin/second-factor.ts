import type { AdminOperations } from '../operation.ts'
import { type AdminOperationOptions, idOf } from './accounts.ts'

export function secondFactorOperations({
  actionsOf,
}: AdminOperationOptions): AdminOperations<'/api/v1/admin/accounts/:id/second-factor'> {
  return {
    DELETE: {
      id: 'resetSecondFactor',
      summary: 'Removes the second factor of somebody who has lost it, and the recovery codes.',
      responses: { 204: { description: 'Removed, or there was none.' } },
      problems: ['request-invalid', 'account-not-found', 'own-account'],
      handler: async (request, reply) => {
        await actionsOf(request).secondFactor.reset(idOf(request))
        reply.code(204)
      },
    },
  }
}
