import type { Plan, Plans } from '#accounts/plan-reports.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import type { Quota } from '#store/quotas.ts'
import type { Rate } from '#store/rates.ts'
import type { Principal } from '../principal.ts'
import { takeFrom } from './limits.ts'
import type { QuotaResult } from './quota-reservation.ts'
import type { Quotas } from './quotas.ts'
import type { RateLimiter } from './rate-limiter.ts'

/**
 * Counts a request against the plan of its caller. Synchronous unless the store has to be asked.
 * @param now the time of the request on the clock of performance.now()
 * @returns `rate-limited` or `quota-exceeded` if the caller has to wait
 */
export type CountAgainstPlan = (
  principal: Principal | undefined,
  now: number,
) => GatehouseError | undefined | Promise<GatehouseError | undefined>

interface PlanOptions {
  readonly plans: Plans
  readonly limiter: Pick<RateLimiter, 'take'>
  readonly quotas: Pick<Quotas, 'take'>
  /** Called once for each plan of an account that is not in the config. Such accounts are not limited. */
  onUnknown(plan: string): void
  /** Counts the requests of such accounts. */
  readonly unknownPlanRequests: { inc(): void }
}

/** How many unknown plans are reported, as accounts may have any number of them. */
const unknownMax = 100

export function createPlans(options: PlanOptions): CountAgainstPlan {
  const { plans, limiter, quotas, onUnknown, unknownPlanRequests } = options
  const byName = new Map(Object.entries(plans))
  const unknown = new Set<string>()

  function planOf(name: string): Plan | undefined {
    const plan = byName.get(name)
    if (plan === undefined) reportUnknown(name)
    return plan
  }

  /** Not refused, as renaming a plan in the config must not cut off its customers. */
  function reportUnknown(name: string): void {
    unknownPlanRequests.inc()
    if (unknown.has(name) || unknown.size >= unknownMax) return
    unknown.add(name)
    onUnknown(name)
  }

  function takeRateAndQuota(
    accountId: string,
    { rate, quota }: { readonly rate: Rate; readonly quota: Quota | undefined },
    now: number,
  ): GatehouseError | undefined | Promise<GatehouseError | undefined> {
    const excess = takeFrom(limiter, 'plan account', accountId, rate)
    return excess instanceof Promise
      ? takeQuotaLater(excess, accountId, quota, now)
      : (excess ?? (quota && takeQuota(accountId, quota, now)))
  }

  /** A separate function, as a closure in the caller would be allocated at each call (hot). */
  async function takeQuotaLater(
    excess: Promise<GatehouseError | undefined>,
    accountId: string,
    quota: Quota | undefined,
    now: number,
  ): Promise<GatehouseError | undefined> {
    return (await excess) ?? (quota && takeQuota(accountId, quota, now))
  }

  function takeQuota(
    accountId: string,
    quota: Quota,
    now: number,
  ): GatehouseError | undefined | Promise<GatehouseError | undefined> {
    const taken = quotas.take(accountId, quota, now)
    return taken instanceof Promise ? refusalLater(taken, quota) : refusalOf(taken, quota)
  }

  return (principal, now) => {
    if (principal?.plan === undefined) return undefined
    const plan = planOf(principal.plan)
    if (plan?.rateLimit)
      return takeRateAndQuota(principal.accountId, { rate: plan.rateLimit, quota: plan.quota }, now)
    return plan?.quota && takeQuota(principal.accountId, plan.quota, now)
  }
}

async function refusalLater(taken: Promise<QuotaResult>, quota: Quota): Promise<GatehouseError | undefined> {
  return refusalOf(await taken, quota)
}

function refusalOf({ isAllowed, resetMs }: QuotaResult, { limit }: Quota): GatehouseError | undefined {
  if (isAllowed) return undefined
  return new GatehouseError('quota-exceeded', { rate: { limit, remaining: 0, retryMs: resetMs, resetMs } })
}
