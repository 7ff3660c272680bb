import { parseAddressRange } from '../address-range.ts'
import type { Review } from '../review.ts'
import { originProblem } from './upstreams.ts'

/** Checks that publicUrl is an origin, and that trusted proxies are addresses or ranges. */
export function reviewNetwork(review: Review): void {
  if (review.isValid(['publicUrl'])) {
    const problem = originProblem(review.tree.publicUrl, 'https://api.example.com')
    if (problem) review.report(['publicUrl'], problem)
  }
  if (!review.hasValidShape(['trustedProxies'])) return
  for (const [index, range] of review.tree.trustedProxies.entries()) {
    const path = ['trustedProxies', index]
    if (review.isValid(path) && !parseAddressRange(range)) {
      review.report(path, 'must be an address such as 10.0.0.1, or a range such as 10.0.0.0/8')
    }
  }
}
