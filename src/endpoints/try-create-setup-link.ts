import type { FastifyRequest } from 'fastify'
import type { SetupLink, SetupLinks } from '../accounts/setup-links.ts'
import { GatehouseError } from '../errors/gatehouse-error.ts'
import { arrivalOf } from '../http/arrival.ts'
import { recordReason } from '../http/outcome.ts'
import { errorMessage } from '../platform/system-error.ts'

/**
 * The set-up link of an account that was just created; undefined if it could not be created, with the reason in the
 * log. The response must not fail because of it: the keys are shown only there, and creating the account again would
 * be a 409.
 */
export async function tryCreateSetupLink(
  { raw }: FastifyRequest,
  setupLinks: SetupLinks,
  accountId: string,
): Promise<SetupLink | undefined> {
  try {
    return await setupLinks.create(accountId)
  } catch (error) {
    const cause = error instanceof GatehouseError ? (error.cause ?? error) : error
    recordReason(arrivalOf(raw).outcome, `set-up link not created: ${errorMessage(cause)}`)
    return undefined
  }
}
