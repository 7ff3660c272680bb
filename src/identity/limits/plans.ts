import type { Plan, Plans } from '#accounts/usage/plan-reports.ts'
import { type Allowance, GatehouseError } from '#platform/errors/gatehouse-error.ts'
import type { MonotonicMs } from '#platform/time.ts'
import type { Quota } from '#store/quotas.ts'
import type { Rate } from '#store/rates.ts'
import type { CountedQuota, Principal } from '../decision.ts'
import type { QuotaResult } from './quota-reservation.ts'
import type { Quotas } from './quotas.ts'
import type { RateLimiter } from './rate-limiter.ts'
import { type Allowances, type Excess, noteTaken } from './take-rate.ts'

/** What a quota is a number of. */
export type QuotaUnit = 'requests' | 'units'

/** Units as soon as one route spends them; on the others a request is one unit. */
export function quotaUnitOf(routes: readonly { readonly quotaCounts: QuotaUnit }[]): QuotaUnit {
  return routes.some(({ quotaCounts }) => quotaCounts === 'units') ? 'units' : 'requests'
}

/**
 * Takes the request from the rate of the account's plan, the quota of its key, then the quota of the plan. Synchronous
 * unless the store has to be asked.
 * @param allowances gets what is left of each
 * @returns `rate-limited` or `quota-exceeded` if the caller has to wait
 */
export type TakePlanLimits = (
  principal: Principal | undefined,
  now: MonotonicMs,
  allowances?: Allowances,
) => Excess | Promise<Excess>

/** Charges the quotas of a request for the units that it used; one was taken when it was admitted. */
export type ChargeQuotas = (principal: Principal, units: number) => void

export function createQuotaCharge({ plans, quotas }: ChargeOptions): ChargeQuotas {
  const byName = new Map(Object.entries(plans))
  return ({ accountId, plan, quota }, units) => {
    const planQuota = plan === undefined ? undefined : byName.get(plan)?.quota
    if (quota !== undefined) quotas.charge(quota.subject, quota, units - 1)
    if (planQuota !== undefined) quotas.charge(accountId, planQuota, units - 1)
  }
}

interface ChargeOptions {
  readonly plans: Plans
  readonly quotas: Pick<Quotas, 'charge'>
}

/** The names of quotas in `RateLimit-Policy`. */
type QuotaPolicy = 'key-quota' | 'quota'

interface PlanOptions {
  readonly plans: Plans
  readonly limiter: Pick<RateLimiter, 'take'>
  readonly quotas: Pick<Quotas, 'take' | 'charge'>
  /** Called once for each plan of an account that is not in the config. Such accounts are not limited. */
  onUnknown(plan: string): void
  /** Counts the requests of such accounts. */
  readonly unknownPlanRequests: { inc(): void }
}

/** How many unknown plans are reported at most, as accounts may have any number of them. */
const unknownMax = 100

export function createPlanLimits(options: PlanOptions): TakePlanLimits {
  const { plans, limiter, quotas, onUnknown, unknownPlanRequests } = options
  const byName = new Map(Object.entries(plans))
  const unknown = new Set<string>()

  function planOf(name: string): Plan | undefined {
    const plan = byName.get(name)
    if (plan === undefined) reportUnknown(name)
    return plan
  }

  /** Such accounts are not refused, as renaming a plan in the config must not cut off its customers. */
  function reportUnknown(name: string): void {
    unknownPlanRequests.inc()
    if (unknown.has(name) || unknown.size >= unknownMax) return
    unknown.add(name)
    onUnknown(name)
  }

  function takePlanRate(
    principal: Principal,
    { rateLimit, quota }: Plan & { readonly rateLimit: Rate },
    now: MonotonicMs,
    allowances: Allowances,
  ): Excess | Promise<Excess> {
    const taken = limiter.take('plan account', principal.accountId, rateLimit)
    const excess = noteTaken('plan-rate', rateLimit, taken, allowances)
    return excess instanceof Promise
      ? excess.then(takeQuotas.bind(undefined, principal, quota, now, allowances))
      : takeQuotas(principal, quota, now, allowances, excess)
  }

  /**
   * Takes from the key's quota first: a request that it refuses does not count against the plan.
   * @param rateExcess what the rate of the plan says
   */
  function takeQuotas(
    principal: Principal,
    planQuota: Quota | undefined,
    now: MonotonicMs,
    allowances: Allowances,
    rateExcess: Excess,
  ): Excess | Promise<Excess> {
    if (rateExcess) return rateExcess
    const { quota } = principal
    const excess = quota && take('key-quota', quota.subject, quota, now, allowances)
    return excess instanceof Promise
      ? excess.then(takePlanQuota.bind(undefined, principal, planQuota, now, allowances))
      : takePlanQuota(principal, planQuota, now, allowances, excess)
  }

  function takePlanQuota(
    { accountId, quota }: Principal,
    planQuota: Quota | undefined,
    now: MonotonicMs,
    allowances: Allowances,
    keyExcess: Excess,
  ): Excess | Promise<Excess> {
    if (keyExcess || planQuota === undefined) return keyExcess
    const excess = take('quota', accountId, planQuota, now, allowances)
    if (quota === undefined) return excess
    return excess instanceof Promise
      ? excess.then(giveBackIfRefused.bind(undefined, quota))
      : giveBackIfRefused(quota, excess)
  }

  /** Gives a request that the plan refuses back to the key's quota. */
  function giveBackIfRefused(quota: CountedQuota, excess: Excess): Excess {
    if (excess) quotas.charge(quota.subject, quota, -1)
    return excess
  }

  function take(
    policy: QuotaPolicy,
    subject: string,
    quota: Quota,
    now: MonotonicMs,
    allowances: Allowances,
  ): Excess | Promise<Excess> {
    const taken = quotas.take(subject, quota, now)
    return taken instanceof Promise
      ? taken.then(excessOf.bind(undefined, policy, quota, allowances))
      : excessOf(policy, quota, allowances, taken)
  }

  return (principal, now, allowances) => {
    if (principal === undefined) return undefined
    const plan = principal.plan === undefined ? undefined : planOf(principal.plan)
    return plan !== undefined && hasRate(plan)
      ? takePlanRate(principal, plan, now, allowances)
      : takeQuotas(principal, plan?.quota, now, allowances, undefined)
  }
}

function hasRate(plan: Plan): plan is Plan & { readonly rateLimit: Rate } {
  return plan.rateLimit !== undefined
}

function excessOf(
  policy: QuotaPolicy,
  { limit }: Quota,
  allowances: Allowances,
  { isAllowed, remaining, windowMs, resetMs }: QuotaResult,
): Excess {
  const allowance: Allowance = { policy, limit, windowMs, remaining, resetMs }
  if (!isAllowed) return new GatehouseError('quota-exceeded', { rate: { ...allowance, retryMs: resetMs } })
  allowances?.push(allowance)
  return undefined
}
