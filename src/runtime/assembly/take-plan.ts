import type { Config } from '#config/config.ts'
import { createPlans, type TakePlan } from '#identity/limits/plans.ts'
import type { Quotas } from '#identity/limits/quotas.ts'
import type { RateLimiter } from '#identity/limits/rate-limiter.ts'
import type { Metrics } from '#ops/metrics/metrics.ts'
import type { Log } from '#platform/log/log.ts'

export interface TakePlanParts {
  readonly config: Pick<Config, 'plans'>
  readonly limiter: RateLimiter
  readonly quotas: Quotas
  readonly log: Log
  readonly metrics: Pick<Metrics, 'unknownPlanRequests'>
}

/** Counts requests against the plans of the config. */
export function createTakePlan({ config, limiter, quotas, log, metrics }: TakePlanParts): TakePlan {
  return createPlans({
    plans: config.plans,
    limiter,
    quotas,
    onUnknown: (plan) => log.warn({ plan }, 'accounts have a plan that is not in the config: not limited'),
    unknownPlanRequests: metrics.unknownPlanRequests,
  })
}
