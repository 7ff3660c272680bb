import type { AdminOperations } from '../operation.ts'
import { readUsageReport, usageOperation } from '../usage.ts'
import { type AdminOperationOptions, idOf } from './accounts.ts'

export function usageOperations({
  actionsOf,
}: AdminOperationOptions): AdminOperations<'/api/v1/admin/accounts/:id/usage'> {
  return {
    GET: {
      ...usageOperation,
      id: 'getAccountUsage',
      summary: 'Shows what an account has used.',
      problems: ['request-invalid', 'account-not-found'],
      handler: async (request) => {
        const actions = actionsOf(request)
        return readUsageReport(actions, await actions.accounts.find(idOf(request)), request)
      },
    },
  }
}
