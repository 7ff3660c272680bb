import type { Clock, EpochMs } from '#platform/time.ts'
import type { Account } from '#store/accounts.ts'
import {
  type KeyQuota,
  keyQuotaSubject,
  type Quota,
  type QuotaStore,
  quotaUsed,
  quotaWindow,
} from '#store/quotas.ts'
import type { Rate } from '#store/rates.ts'
import { keyState } from '#store/secret-keys.ts'

/** How much an account with this plan may use, over all routes; undefined = not limited in this way. */
export interface Plan {
  readonly quota: Quota | undefined
  readonly rateLimit: Rate | undefined
}

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
  /** Requests in the current day or month; may be too low by 1 % of the limit: see `quotaUsed`. */
  readonly used: number
  readonly remaining: number
  readonly resetsAt: EpochMs
}

/** The quota of a secret key, and what is left of it. */
export interface KeyQuotaUse extends QuotaUse {
  /** The name of the key. */
  readonly key: string
}

export interface PlanReports {
  /** undefined = the account has no plan. @throws GatehouseError `store-unavailable` */
  read(account: Pick<Account, 'id' | 'plan'>): Promise<PlanUse | undefined>
  /**
   * Quotas of the keys that have one, in order; keys that share one during an overlap are listed once.
   * @throws as `read` does
   */
  readKeyQuotas(account: Pick<Account, 'id' | 'secretKeys'>): Promise<readonly KeyQuotaUse[]>
}

/** How many requests of a subject have passed in a window. */
type ReadQuotaUsed = (subject: string, window: string) => Promise<number>

export interface PlanReportsOptions {
  readonly plans: Plans
  readonly readQuotaUsed: ReadQuotaUsed
  readonly clock: Clock
}

export function createPlanReports({ plans, readQuotaUsed, clock }: PlanReportsOptions): PlanReports {
  const byName = new Map(Object.entries(plans))

  async function readQuota(subject: string, { limit, per }: Quota): Promise<QuotaUse> {
    const { window, endsAt } = quotaWindow(per, clock())
    const used = await readQuotaUsed(subject, window)
    return { limit, per, used, remaining: Math.max(0, limit - used), resetsAt: endsAt }
  }

  return {
    read: async ({ id, plan: name }) => {
      if (name === undefined) return undefined
      const plan = byName.get(name)
      const quota = plan?.quota && (await readQuota(id, plan.quota))
      return { name, isKnown: plan !== undefined, quota, rateLimit: plan?.rateLimit }
    },
    readKeyQuotas: ({ id, secretKeys }) => {
      const now = clock()
      const byId = new Map<string, { readonly key: string; readonly quota: KeyQuota }>()
      for (const key of secretKeys) {
        if (key.quota !== undefined && keyState(key, now) !== 'revoked')
          byId.set(key.quota.id, { key: key.name, quota: key.quota })
      }
      return Promise.all(
        [...byId.values()].map(async ({ key, quota }) => ({
          key,
          ...(await readQuota(keyQuotaSubject(id, quota), quota)),
        })),
      )
    },
  }
}

/** Reads quotas from the store only: for processes that use up none themselves. */
export function createQuotaReader(store: Pick<QuotaStore, 'readQuota'>): ReadQuotaUsed {
  return async (subject, window) => quotaUsed(await store.readQuota(subject, window))
}

/** A plan as the API and the commands show it. */
export function planUseData(use: PlanUse | undefined) {
  if (!use) return null
  const { name, isKnown, quota, rateLimit } = use
  return {
    name,
    known: isKnown,
    quota: quota ? quotaUseData(quota) : null,
    rateLimit: rateLimit ? { limit: rateLimit.limit, perSeconds: rateLimit.perMs / 1_000 } : null,
  }
}

export function keyQuotaUseData({ key, ...use }: KeyQuotaUse) {
  return { key, ...quotaUseData(use) }
}

function quotaUseData({ limit, per, used, remaining, resetsAt }: QuotaUse) {
  return { limit, per, used, remaining, resetsAt: new Date(resetsAt).toISOString() }
}
