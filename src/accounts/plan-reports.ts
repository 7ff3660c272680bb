import type { Clock } from '#platform/clock.ts'
import type { Account } from '#store/account.ts'
import { type Quota, type QuotaStore, quotaUsed, quotaWindow } from '#store/quotas.ts'
import type { Rate } from '#store/rates.ts'

/** How much an account with this plan may use, over all routes; undefined = not limited in this way. */
export interface Plan {
  readonly quota: Quota | undefined
  readonly rateLimit: Rate | undefined
}

/** Plans by name. */
export type Plans = Readonly<Record<string, Plan>>

/** The plan of an account, and what is left of it. */
export interface PlanUse {
  readonly name: string
  /** Whether the config has such a plan; without it the account is not limited. */
  readonly isKnown: boolean
  readonly quota: QuotaUse | undefined
  readonly rateLimit: Rate | undefined
}

export interface QuotaUse extends Quota {
  /** Requests in the current day or month; up to 1 % of the limit, and 100, too low: see `quotaUsed`. */
  readonly used: number
  readonly remaining: number
  /** Milliseconds since 1970. */
  readonly resetsAt: number
}

export interface PlanReports {
  /** undefined = the account has no plan. @throws GatehouseError `store-unavailable` */
  read(account: Pick<Account, 'id' | 'plan'>): Promise<PlanUse | undefined>
}

/** How many requests of an account have passed in a window. */
export type ReadQuotaUsed = (accountId: string, window: string) => Promise<number>

interface PlanReportsOptions {
  readonly plans: Plans
  readonly readQuotaUsed: ReadQuotaUsed
  /** Milliseconds since 1970. */
  readonly clock: Clock
}

export function createPlanReports({ plans, readQuotaUsed, clock }: PlanReportsOptions): PlanReports {
  const byName = new Map(Object.entries(plans))

  async function readQuota(accountId: string, quota: Quota): Promise<QuotaUse> {
    const { window, endsAt } = quotaWindow(quota.per, clock())
    const used = await readQuotaUsed(accountId, window)
    return { ...quota, used, remaining: Math.max(0, quota.limit - used), resetsAt: endsAt }
  }

  return {
    read: async ({ id, plan: name }) => {
      if (name === undefined) return undefined
      const plan = byName.get(name)
      const quota = plan?.quota && (await readQuota(id, plan.quota))
      return { name, isKnown: plan !== undefined, quota, rateLimit: plan?.rateLimit }
    },
  }
}

/** Reads from the store alone, for processes that take nothing of quotas themselves. */
export function createQuotaReader(store: Pick<QuotaStore, 'readQuota'>): ReadQuotaUsed {
  return async (accountId, window) => quotaUsed(await store.readQuota(accountId, window))
}

/** A plan as the API and the commands show it. */
export function planUseData(use: PlanUse | undefined) {
  if (!use) return null
  const { name, isKnown, quota, rateLimit } = use
  return {
    name,
    known: isKnown,
    quota: quota
      ? {
          limit: quota.limit,
          per: quota.per,
          used: quota.used,
          remaining: quota.remaining,
          resetsAt: new Date(quota.resetsAt).toISOString(),
        }
      : null,
    rateLimit: rateLimit ? { limit: rateLimit.limit, perSeconds: rateLimit.perMs / 1_000 } : null,
  }
}
