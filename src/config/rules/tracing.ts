import type { Review } from '../review.ts'

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
