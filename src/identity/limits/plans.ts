import type { Plan, Plans } from '#accounts/plan-reports.ts'
import type { Allowance } from '#platform/allowance.ts'
import { GatehouseError } from '#platform/errors/gatehouse-error.ts'
import type { Quota } from '#store/quotas.ts'
import type { Rate } from '#store/rates.ts'
import type { Principal } from '../principal.ts'
import { type Allowances, noteTaken } from './limits.ts'
import type { QuotaResult } from './quota-reservation.ts'
import type { Quotas } from './quotas.ts'
import type { RateLimiter } from './rate-limiter.ts'

/**
 * Counts a request against the plan of its caller. Synchronous unless the store has to be asked.
 * @param now the time of the request on the clock of performance.now()
 * @param allowances where it is noted what is left
 * @returns `rate-limited` or `quota-exceeded` if the caller has to wait
 */
export type CountAgainstPlan = (
  principal: Principal | undefined,
  now: number,
  allowances?: Allowances,
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
    allowances: Allowances,
  ): GatehouseError | undefined | Promise<GatehouseError | undefined> {
    const taken = limiter.take('plan account', accountId, rate)
    const excess = noteTaken('plan-rate', rate, taken, allowances)
    return excess instanceof Promise
      ? takeQuotaLater(excess, accountId, quota, now, allowances)
      : (excess ?? (quota && takeQuota(accountId, quota, now, allowances)))
  }

  /** A separate function, as a closure in the caller would be allocated at each call (hot). */
  async function takeQuotaLater(
    excess: Promise<GatehouseError | undefined>,
    accountId: string,
    quota: Quota | undefined,
    now: number,
    allowances: Allowances,
  ): Promise<GatehouseError | undefined> {
    return (await excess) ?? (quota && takeQuota(accountId, quota, now, allowances))
  }

  function takeQuota(
    accountId: string,
    quota: Quota,
    now: number,
    allowances: Allowances,
  ): GatehouseError | undefined | Promise<GatehouseError | undefined> {
    const taken = quotas.take(accountId, quota, now)
    return taken instanceof Promise
      ? refusalLater(taken, quota, allowances)
      : refusalOf(taken, quota, allowances)
  }

  return (principal, now, allowances) => {
    if (principal?.plan === undefined) return undefined
    const plan = planOf(principal.plan)
    if (plan?.rateLimit)
      return takeRateAndQuota(
        principal.accountId,
        { rate: plan.rateLimit, quota: plan.quota },
        now,
        allowances,
      )
    return plan?.quota && takeQuota(principal.accountId, plan.quota, now, allowances)
  }
}

async function refusalLater(
  taken: Promise<QuotaResult>,
  quota: Quota,
  allowances: Allowances,
): Promise<GatehouseError | undefined> {
  return refusalOf(await taken, quota, allowances)
}

function refusalOf(
  { isAllowed, remaining, windowMs, resetMs }: QuotaResult,
  { limit }: Quota,
  allowances: Allowances,
): GatehouseError | undefined {
  const allowance: Allowance = { policy: 'quota', limit, windowMs, remaining, resetMs }
  if (!isAllowed) return new GatehouseError('quota-exceeded', { rate: { ...allowance, retryMs: resetMs } })
  allowances?.push(allowance)
  return undefined
}
