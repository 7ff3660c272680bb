import { X509Certificate } from 'node:crypto'
import type { Path } from '../problem.ts'
import type { Review } from '../review.ts'

/** Checks that target URLs are plain origins, that certificates can be read, and what health checks ask. */
export function reviewUpstreams(review: Review): void {
  const upstreams = review.hasValidShape(['upstreams']) ? review.tree.upstreams : {}
  for (const [name, { targets, tls }] of Object.entries(upstreams).filter(([name]) =>
    isShapedUpstream(review, name),
  )) {
    for (const [index, target] of targets.entries()) {
      const path = ['upstreams', name, 'targets', index, 'url']
      const problem = review.isValid(path) ? originProblem(target.url, 'http://10.0.0.11:3000') : undefined
      if (problem) review.report(path, problem)
    }
    reviewChecks(review, name)
    const caPath = ['upstreams', name, 'tls', 'ca']
    if (review.isValid(caPath) && tls.ca) reviewCertificates(review, caPath, tls.ca)
  }
}

function reviewChecks(review: Review, name: string): void {
  const path = ['upstreams', name, 'health', 'active']
  if (!review.isValid(path) || !review.isValid(['upstreams', name, 'protocol'])) return
  const { health, protocol } = review.tree.upstreams[name] ?? {}
  const active = health?.active
  if (!active) return
  if (!active.path && !active.grpc) review.report([...path, 'path'], 'is missing: a path, or else grpc')
  if (active.path && active.grpc) review.report([...path, 'path'], 'is not asked for where grpc is set')
  if (active.grpc && protocol !== 'http2') review.report([...path, 'grpc'], 'needs protocol: http2')
}

function isShapedUpstream(review: Review, name: string): boolean {
  return (
    review.hasValidShape(['upstreams', name, 'targets']) && review.hasValidShape(['upstreams', name, 'tls'])
  )
}

/** What keeps a text from being an http(s) origin, such as the example; undefined if it is one. */
export function originProblem(text: string, example: string): string | undefined {
  const url = URL.parse(text)
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.hostname === '') {
    return `must be a URL such as ${example}`
  }
  // URL takes braces and the like for a name.
  if (!/^(?:\[[\da-f:.]+\]|[\w.-]+)$/i.test(url.hostname)) {
    return `must have a host name: letters, digits, -, _ and dots, as in ${example}`
  }
  if (url.username || url.password) return 'must not contain credentials'
  if (url.pathname !== '/' || url.search || url.hash) return 'must be an origin: no path, query or fragment'
  return undefined
}

/** Reports certificates that cannot be read as PEM. */
export function reviewCertificates(
  review: Review,
  path: Path,
  reference: { file?: string; env?: string },
): void {
  const pem = review.secret(path, reference)
  if (pem === undefined) return
  try {
    new X509Certificate(pem)
  } catch {
    review.report(path, 'contains no PEM certificate')
  }
}
