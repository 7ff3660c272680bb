import type { Refusal } from '../auth/decision.ts'
import { countFailure } from '../auth/limits.ts'
import type { RateLimiter } from '../auth/rate-limiter.ts'
import type { ErrorCode } from '../errors/codes.ts'
import { type GatehouseError, sharedError } from '../errors/gatehouse-error.ts'
import type { Rate } from '../store/rates.ts'
import type { Arrival } from './arrival.ts'

export interface RefuseOptions {
  readonly limiter: RateLimiter
  /** How many invalid credentials one client address may send. */
  readonly failures: Rate
}

/**
 * The error for a refused credential: the code of the refusal, or `too-many-failures`. Synchronous if only this process
 * counts failures.
 */
export type Refuse = (refusal: Refusal, arrival: Arrival) => GatehouseError | Promise<GatehouseError>

/** Only this code is counted: it is a guess at a key, or a key that was reset; tokens cannot be guessed. */
const countedCode: ErrorCode = 'secret-key-invalid'

export function createRefuse({ limiter, failures }: RefuseOptions): Refuse {
  return ({ code, isMalformed }, { client }) => {
    if (code !== countedCode) return sharedError(code)
    const excess = countFailure(limiter, failures, { address: client.address, isMalformed })
    if (excess instanceof Promise) return excess.then((error) => error ?? sharedError(code))
    return excess ?? sharedError(code)
  }
}
