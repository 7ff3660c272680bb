import { parseRedisNode } from '../hosts.ts'
import type { Path } from '../problem.ts'
import type { Review } from '../review.ts'
import type { SecretReference } from '../schema/node.ts'
import { reviewCertificates } from './certificates.ts'

const path = ['store', 'redis']

/** Checks that the chosen driver has all the options that it needs, and no others. */
export function reviewStore(review: Review): void {
  reviewSections(review)
  if (!review.hasValidShape(path)) return
  const { driver, redis } = review.tree.store
  if (review.isValid(['store', 'driver']) && driver === 'redis' && !redis) {
    review.report(path, 'is missing: driver: redis needs it')
  }
  if (!redis) return
  const endpoints = [redis.url, redis.sentinel, redis.cluster].filter((place) => place !== undefined)
  if (endpoints.length !== 1) review.report(path, 'set exactly one of url, sentinel and cluster')
  reviewUrl(review, redis.url)
  reviewNodes(review, 'sentinel')
  reviewNodes(review, 'cluster')
  reviewPassword(review, [...path, 'password'], redis.password)
  reviewPassword(review, [...path, 'sentinel', 'password'], redis.sentinel?.password)
  reviewCertificates(review, [...path, 'tls', 'ca'], redis.tls?.ca)
}

/** Each driver has its own section: the other one would be ignored, whichever was meant. */
function reviewSections(review: Review): void {
  if (!review.isValid(['store', 'driver'])) return
  const isThere = (name: string) => review.isWritten('store', name)
  const { driver } = review.tree.store
  const other = driver === 'redis' ? 'sqlite' : 'redis'
  if (!isThere(other)) return
  const message = isThere('driver')
    ? `is not used with driver: ${driver}: remove it`
    : 'is set together with store.redis: remove one of them'
  review.report(['store', other], message, 'key')
}

function reviewUrl(review: Review, given: string | SecretReference | undefined): void {
  const at = [...path, 'url']
  if (given === undefined || !review.isValid(at)) return
  const text = typeof given === 'string' ? given : review.secret(at, given)
  if (text !== undefined) reviewText(review, at, text, typeof given === 'string')
}

function reviewPassword(review: Review, at: Path, given: SecretReference | undefined): void {
  if (given && review.isValid(at)) review.secret(at, given)
}

function reviewText(review: Review, path: Path, text: string, isInline: boolean): void {
  const url = URL.parse(text)
  if (
    !url ||
    !['redis:', 'rediss:'].includes(url.protocol) ||
    !/^(?:\[[\da-f:.]+\]|[\w.%-]+)$/i.test(url.hostname)
  ) {
    review.report(path, 'must be a URL such as redis://127.0.0.1:6379/0')
  } else if (isInline && url.password) {
    review.report(
      path,
      'a password is never inline: set the URL as { env: … } or { file: … }, or use password',
    )
  } else if (!/^\/?\d{0,4}$/.test(url.pathname)) {
    review.report(path, 'its path must be the number of a database')
  } else if (url.search || url.hash) {
    // The driver reads options from the query, even a password, which would bypass this config.
    review.report(path, 'must have no query and no fragment: set such options next to url')
  }
}

function reviewNodes(review: Review, kind: 'sentinel' | 'cluster'): void {
  const at = [...path, kind, 'nodes']
  if (!review.hasValidShape(at)) return
  for (const [index, node] of (review.tree.store.redis?.[kind]?.nodes ?? []).entries()) {
    review.check([...at, index], () => (parseRedisNode(node) ? undefined : 'must be host:port'))
  }
}
