import { parseRange } from '../address-range.ts'
import type { Review } from '../review.ts'
import { originComplaint } from './upstreams.ts'

/** Checks that publicUrl is an origin, and that trusted proxies are addresses or ranges. */
export function reviewNetwork(review: Review): void {
  if (review.isSound(['publicUrl'])) {
    const complaint = originComplaint(review.tree.publicUrl, 'https://api.example.com')
    if (complaint) review.report(['publicUrl'], complaint)
  }
  if (!review.isShaped(['trustedProxies'])) return
  for (const [index, range] of review.tree.trustedProxies.entries()) {
    const path = ['trustedProxies', index]
    if (review.isSound(path) && !parseRange(range)) {
      review.report(path, 'must be an address such as 10.0.0.1, or a range such as 10.0.0.0/8')
    }
  }
}
