import type { FastifyRequest } from 'fastify'
import type { HeldKeys } from '#accounts/held-keys.ts'
import { arrivalOf, visitorOf } from '#gateway/server/arrival.ts'
import { countFailure } from '#identity/limits/failures.ts'
import type { RateLimiter } from '#identity/limits/rate-limiter.ts'
import { isRecord } from '#platform/json.ts'
import type { Rate } from '#store/rates.ts'
import { readMembers } from './json-body.ts'
import type { OwnEndpoint } from './own-route.ts'

export interface HeldKeysEndpointOptions {
  readonly heldKeys: HeldKeys
  readonly limiter: RateLimiter
  /** How often one client network may call it, wrong credentials included. */
  readonly failures: Rate
}

/** Ends a key for whoever holds it. The answer is the same whether there was such a key. */
export function revokeKeyEndpoint({ heldKeys, limiter, failures }: HeldKeysEndpointOptions): OwnEndpoint {
  return {
    handler: async (request, reply) => {
      const key = readKey(request)
      const { address } = arrivalOf(request.raw).client
      const excess = await countFailure(limiter, failures, { address, isMalformed: false })
      if (excess) throw excess
      await heldKeys.end(key, visitorOf(request.raw))
      reply.header('Cache-Control', 'no-store')
      return {}
    },
  }
}

/** Any text is one, the empty one too. */
function readKey(request: FastifyRequest): string {
  const { body } = request
  return isRecord(body) && body.key === '' ? '' : readMembers(request, { required: ['key'] }).key
}
