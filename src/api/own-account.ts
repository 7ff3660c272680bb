import type { FastifyInstance } from 'fastify'
import type { AccountActionsOf } from '#accounts/account-actions.ts'
import type { OwnAccountPath, PerOperation } from '#gateway/routes/own-paths.ts'
import { type AdmissionOptions, actorOf, createAdmission, ownAccountRoute } from './admin/admission.ts'
import { type Operation, registerOperations } from './operation.ts'
import { readUsageReport, usageOperation } from './usage.ts'

export interface OwnAccountOptions extends AdmissionOptions {
  readonly actionsOf: AccountActionsOf
}

/** The operations of an account on itself, for any role and by either scheme. Their responses are never cached. */
export function createOwnAccountApi({ actionsOf, ...options }: OwnAccountOptions) {
  const operations: PerOperation<Operation, OwnAccountPath> = {
    '/api/v1/accounts/usage': {
      GET: {
        ...usageOperation,
        id: 'getUsage',
        summary: "Shows what the caller's account has used.",
        problems: ['request-invalid'],
        handler: async (request) => {
          const actor = actorOf(request)
          const actions = actionsOf(actor)
          return readUsageReport(actions, await actions.accounts.find(actor.id), request)
        },
      },
    },
  }

  function register(scope: FastifyInstance): void {
    registerOperations(scope, operations, createAdmission(options, ownAccountRoute))
  }

  return { operations, register }
}
