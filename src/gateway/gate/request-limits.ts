import type { RouteRate } from '#identity/access.ts'
import { takeRate } from '#identity/limits/limits.ts'
import type { TakePlan } from '#identity/limits/plans.ts'
import type { RateLimiter } from '#identity/limits/rate-limiter.ts'
import type { Principal } from '#identity/principal.ts'
import type { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import type { Arrival } from '../server/arrival.ts'

/**
 * Counts a request against the rate of its route, then against the plan of its caller. Synchronous where nothing has to be
 * asked.
 * @returns `rate-limited` or `quota-exceeded` if it has to wait
 */
export type TakeLimits = (
  rate: RouteRate | undefined,
  arrival: Pick<Arrival<unknown>, 'client' | 'arrivedAt'>,
  principal: Principal | undefined,
) => GatehouseError | undefined | Promise<GatehouseError | undefined>

export function createLimits({
  limiter,
  takePlan,
}: {
  readonly limiter: RateLimiter
  readonly takePlan: TakePlan
}): TakeLimits {
  /** In a function of its own: what a function within the other captured would be allocated at each of its calls. */
  async function takePlanLater(
    excess: Promise<GatehouseError | undefined>,
    principal: Principal | undefined,
    arrivedAt: number,
  ): Promise<GatehouseError | undefined> {
    return (await excess) ?? takePlan(principal, arrivedAt)
  }

  return (rate, { client, arrivedAt }, principal) => {
    if (rate === undefined) return takePlan(principal, arrivedAt)
    const excess = takeRate(limiter, rate, { principal, address: client.address })
    return excess instanceof Promise
      ? takePlanLater(excess, principal, arrivedAt)
      : (excess ?? takePlan(principal, arrivedAt))
  }
}
