import type { FastifyRequest } from 'fastify'
import { arrivalOf } from '#gateway/server/arrival.ts'
import { countFailure } from '#identity/limits/failures.ts'
import type { RateLimiter } from '#identity/limits/rate-limiter.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import type { Rate } from '#store/rates.ts'

export interface FailedKeyPairOptions {
  readonly limiter: RateLimiter
  /** How many invalid key pairs one client address may send. */
  readonly failures: Rate
}

/** Counts a pair that was found to be wrong. @throws GatehouseError `too-many-failures`, else the error itself */
export type CountFailedKeyPair = (request: FastifyRequest, error: unknown) => Promise<never>

export function createFailedKeyPairCount({ limiter, failures }: FailedKeyPairOptions): CountFailedKeyPair {
  return async function countFailedKeyPair({ raw }, error) {
    if (error instanceof GatehouseError && error.code === 'credentials-invalid') {
      const { address } = arrivalOf(raw).client
      const excess = await countFailure(limiter, failures, { address, isMalformed: false })
      if (excess) throw excess
    }
    throw error
  }
}
