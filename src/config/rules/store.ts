import type { Path } from '../problem.ts'
import { parseNode } from '../redis-node.ts'
import type { Review } from '../review.ts'
import { reviewCertificates } from './upstreams.ts'

/** The chosen driver has all it needs, and only that. */
export function reviewStore(review: Review): void {
  if (!review.isSound(['store'])) return
  const { driver, redis } = review.tree.store
  if (driver === 'redis' && !redis) review.report(['store', 'redis'], 'is missing: driver: redis needs it')
  if (!redis) return
  const places = [redis.url, redis.sentinel, redis.cluster].filter((place) => place !== undefined)
  if (places.length !== 1) review.report(['store', 'redis'], 'give exactly one of url, sentinel and cluster')
  if (typeof redis.url === 'string') reviewUrl(review, ['store', 'redis', 'url'], redis.url, true)
  else if (redis.url) {
    const url = review.secret(['store', 'redis', 'url'], redis.url)
    if (url !== undefined) reviewUrl(review, ['store', 'redis', 'url'], url, false)
  }
  reviewNodes(review, ['store', 'redis', 'sentinel', 'nodes'], redis.sentinel?.nodes ?? [])
  reviewNodes(review, ['store', 'redis', 'cluster', 'nodes'], redis.cluster?.nodes ?? [])
  if (redis.password) review.secret(['store', 'redis', 'password'], redis.password)
  if (redis.sentinel?.password) {
    review.secret(['store', 'redis', 'sentinel', 'password'], redis.sentinel.password)
  }
  if (redis.tls?.ca) reviewCertificates(review, ['store', 'redis', 'tls', 'ca'], redis.tls.ca)
}

function reviewUrl(review: Review, path: Path, text: string, isInline: boolean): void {
  const url = URL.parse(text)
  if (!url || !['redis:', 'rediss:'].includes(url.protocol) || url.hostname === '') {
    review.report(path, 'must be a URL such as redis://127.0.0.1:6379/0')
  } else if (isInline && url.password) {
    review.report(
      path,
      'a password is never inline: give the URL as { env: … } or { file: … }, or use password',
    )
  } else if (!/^\/?\d{0,4}$/.test(url.pathname)) {
    review.report(path, 'its path must be the number of a database')
  } else if (url.search || url.hash) {
    // The driver takes options from it, a password among them, which would pass by this config.
    review.report(path, 'must have no query and no fragment: set its options beside it')
  }
}

function reviewNodes(review: Review, path: Path, nodes: readonly string[]): void {
  for (const [index, node] of nodes.entries()) {
    if (!parseNode(node)) review.report([...path, index], 'must be host:port')
  }
}
