import type { Access } from '#identity/access.ts'
import type { Refusal } from '#identity/decision.ts'
import { countFailure } from '#identity/limits/failures.ts'
import type { RateLimiter } from '#identity/limits/rate-limiter.ts'
import type { ErrorCode } from '#platform/errors/codes.ts'
import { type GatehouseError, sharedError } from '#platform/errors/gatehouse-error.ts'
import type { Rate } from '#store/rates.ts'
import { type Arrival, credentialsOf } from '../server/arrival.ts'
import { refusalDetail } from './refusal-detail.ts'

/** Only this code is counted: it is a guess at a key, or a key that was reset; tokens cannot be guessed. */
export const countedCode: ErrorCode = 'secret-key-invalid'

/**
 * The error for a refused credential: the code of the refusal, or `too-many-failures`. Synchronous if only this process
 * counts failures.
 */
export type CredentialRefusal = (
  refusal: Refusal,
  access: Access,
  arrival: Arrival<unknown>,
) => GatehouseError | Promise<GatehouseError>

/** @param failures how many invalid credentials one client address may send */
export function createCredentialRefusal(limiter: RateLimiter, failures: Rate): CredentialRefusal {
  return function refuse(refusal, access, arrival) {
    const { code, isMalformed } = refusal
    const { client, carriers, head } = arrival
    const credentials = credentialsOf(arrival)
    const detail = refusalDetail(refusal, access, { credentials, carriers, target: head.target })
    const error = sharedError(code, detail)
    if (code !== countedCode) return error
    const excess = countFailure(limiter, failures, { address: client.address, isMalformed })
    return excess instanceof Promise ? orError(excess, error) : (excess ?? error)
  }
}

async function orError(
  excess: Promise<GatehouseError | undefined>,
  error: GatehouseError,
): Promise<GatehouseError> {
  return (await excess) ?? error
}
