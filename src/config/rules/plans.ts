import { noPlan } from '#accounts/account-input.ts'
import type { Review } from '../review.ts'

/** Checks that each plan limits something, and can be given to an account. */
export function reviewPlans(review: Review): void {
  if (!review.hasValidShape(['plans'])) return
  for (const [name, plan] of Object.entries(review.tree.plans)) {
    const path = ['plans', name]
    if (!review.isValid(path)) continue
    if (name === noPlan)
      review.report(path, `"${noPlan}" is how commands say that an account has no plan`, 'key')
    if (!plan.quota && !plan.rateLimit) review.report(path, 'limits nothing: give quota, rateLimit or both')
  }
}
