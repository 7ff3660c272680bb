import type { Refusal } from '../auth/decision.ts'
import { countFailure } from '../auth/limits.ts'
import type { Limiter } from '../auth/rate-limit.ts'
import { type Code, refusalOf } from '../errors.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { Rate } from '../store/store.ts'
import type { Arrival } from './arrival.ts'

export interface RefuseOptions {
  readonly limiter: Limiter
  /** Wrong credentials that one client address may send. */
  readonly failures: Rate
  readonly metrics: Metrics
}

/**
 * Refuses a credential: at once where nobody else has to be asked how many there were.
 * @throws GatehouseError with the code of the refusal, or `too-many-failures`; or it is a rejection
 */
export type Refuse = (refusal: Refusal, arrival: Arrival) => never | Promise<never>

/** Codes that a wrong credential gets, and a client that has none, or an old one, does not. */
const failureCodes = new Set<Code>(['secret-key-invalid'])

export function createRefuse({ limiter, failures, metrics }: RefuseOptions): Refuse {
  return ({ code, isMalformed }, arrival) => {
    const { route } = arrival.outcome
    if (!failureCodes.has(code)) throw refusalOf(code)
    let counted: void | Promise<void>
    try {
      counted = countFailure(limiter, failures, { address: arrival.client.address, isMalformed })
    } catch (error) {
      countLimited(metrics, route, error)
    }
    if (!counted) throw refusalOf(code)
    return counted.then(
      () => {
        throw refusalOf(code)
      },
      (error: unknown) => countLimited(metrics, route, error),
    )
  }
}

/** Counts one who is refused for their rate. @throws the error they are refused with */
export function countLimited({ rateLimited }: Metrics, route: string, error: unknown): never {
  rateLimited.inc({ route })
  throw error
}
