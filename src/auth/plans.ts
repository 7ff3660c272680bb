import { GatehouseError } from '../errors/gatehouse-error.ts'
import type { Rate } from '../store/rates.ts'
import type { Principal } from './principal.ts'
import type { Quota, QuotaResult, Quotas } from './quotas.ts'
import type { RateLimiter } from './rate-limiter.ts'

/** How much an account with this plan may use, over all routes; undefined = not limited in this way. */
export interface Plan {
  readonly quota: Quota | undefined
  readonly rateLimit: Rate | undefined
}

/** Plans by name. */
export type Plans = Readonly<Record<string, Plan>>

/**
 * Counts a request against the plan of its caller. Synchronous where nothing has to be asked.
 * @returns `rate-limited` or `quota-exceeded` if it has to wait
 */
export type TakePlan = (
  principal: Principal | undefined,
) => GatehouseError | undefined | Promise<GatehouseError | undefined>

export interface PlanOptions {
  readonly plans: Plans
  readonly limiter: Pick<RateLimiter, 'take'>
  readonly quotas: Pick<Quotas, 'take'>
  /** Called once for each plan of an account that is not in the config: such accounts are not limited. */
  onUnknown(plan: string): void
}

/** How many unknown plans are reported: accounts may have any number. */
const unknownMax = 100

export function createPlans({ plans, limiter, quotas, onUnknown }: PlanOptions): TakePlan {
  const byName = new Map(Object.entries(plans))
  const unknown = new Set<string>()

  function planOf(name: string): Plan | undefined {
    const plan = byName.get(name)
    if (plan === undefined && !unknown.has(name) && unknown.size < unknownMax) {
      unknown.add(name)
      onUnknown(name)
    }
    return plan
  }

  async function takeRate(
    accountId: string,
    rate: Rate,
    quota: Quota | undefined,
  ): Promise<GatehouseError | undefined> {
    const taken = await limiter.take(`plan account ${accountId}`, rate)
    if (!taken.isAllowed) return new GatehouseError('rate-limited', { rate: { limit: rate.limit, ...taken } })
    return quota && takeQuota(accountId, quota)
  }

  function takeQuota(
    accountId: string,
    quota: Quota,
  ): GatehouseError | undefined | Promise<GatehouseError | undefined> {
    const taken = quotas.take(accountId, quota)
    return taken instanceof Promise
      ? taken.then((settled) => refusalOf(settled, quota))
      : refusalOf(taken, quota)
  }

  return (principal) => {
    if (principal?.plan === undefined) return undefined
    const plan = planOf(principal.plan)
    if (plan?.rateLimit) return takeRate(principal.accountId, plan.rateLimit, plan.quota)
    return plan?.quota && takeQuota(principal.accountId, plan.quota)
  }
}

function refusalOf({ isAllowed, resetMs }: QuotaResult, { limit }: Quota): GatehouseError | undefined {
  if (isAllowed) return undefined
  return new GatehouseError('quota-exceeded', { rate: { limit, remaining: 0, retryMs: resetMs, resetMs } })
}
