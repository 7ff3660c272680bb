import { parseAddressRange } from '#platform/addresses.ts'
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

/** Checks that the collector's endpoint is a URL to which a path can be added. */
export function reviewTracing(review: Review): void {
  const { tracing } = review.tree
  const path = ['tracing', 'otlp', 'endpoint']
  if (!tracing || !review.isValid(path)) return
  const url = URL.parse(tracing.otlp.endpoint)
  if (!url || !['http:', 'https:'].includes(url.protocol)) {
    review.report(path, 'must be a URL such as http://localhost:4318')
  } else if (url.username || url.password) review.report(path, 'must not contain credentials')
  else if (url.search || url.hash)
    review.report(path, 'must have no query or fragment: /v1/traces is added to it')
}
