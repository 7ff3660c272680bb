import { normalizeHost, parseAddressRange } from '#platform/addresses.ts'
import { hostProblem, originProblem } from '../hosts.ts'
import type { Path } from '../problem.ts'
import type { ConfigReview } from '../schema/schema.ts'
import { defaultOpsPort } from '../schema/listeners.ts'
import { parsePairs } from '../units.ts'
import { reviewCertificates, reviewTlsPair } from '../schema/certificates.ts'

const path = ['listen', 'tls']

/** Checks that each listener has a host that it can listen on. */
export function reviewHosts(review: ConfigReview): void {
  for (const section of ['listen', 'ops', 'decide'] as const) {
    const at = [section, 'host']
    review.check(at, () => {
      const host = review.tree[section]?.host
      return host === undefined ? undefined : hostProblem(host)
    })
  }
}

/** Checks that plain HTTP is redirected to https. */
export function reviewRedirect(review: ConfigReview): void {
  const at = ['listen', 'redirect']
  if (!review.hasValidShape(['listen']) || !review.isValid(at)) return
  const { tls, redirect } = review.tree.listen
  if (redirect && !tls)
    review.report(at, 'needs listen.tls: without it listen.port itself speaks plain HTTP', 'key')
}

/** Checks that each listener has an address of its own, as two listeners cannot share a port. */
export function reviewPorts(review: ConfigReview): void {
  const listeners = listenersOf(review)
  for (const [index, own] of listeners.entries()) {
    for (const other of listeners.slice(0, index)) {
      if (own.port === 0 || own.port !== other.port || !overlap(own.host, other.host)) continue
      // Of listen and ops, the option that differs from its default is reported.
      const [reported, named] =
        own.path[0] === 'ops' && own.port === defaultOpsPort ? [other, own] : [own, other]
      review.report(
        [...reported.path, 'port'],
        `conflicts with ${named.path.join('.')}.port on the same address: choose another port`,
      )
    }
  }
}

interface Listener {
  readonly path: Path
  readonly host: string
  readonly port: number
}

/** Those whose options are valid. */
function listenersOf({ tree, isValid }: ConfigReview): readonly Listener[] {
  const { ops, decide } = tree
  const hasAddress = (section: string) => isValid([section, 'host']) && isValid([section, 'port'])
  const listen = hasAddress('listen') ? tree.listen : undefined
  const redirect = isValid(['listen', 'redirect']) ? listen?.redirect : undefined
  return [
    ...(listen ? [{ ...listen, path: ['listen'] }] : []),
    ...(hasAddress('ops') ? [{ ...ops, path: ['ops'] }] : []),
    ...(decide && hasAddress('decide') ? [{ ...decide, path: ['decide'] }] : []),
    ...(listen && redirect ? [{ host: listen.host, port: redirect.port, path: ['listen', 'redirect'] }] : []),
  ]
}

/** Whether two hosts are the same address, or one of them is the wildcard. */
function overlap(one: string, other: string): boolean {
  const [a, b] = [normalizeHost(one), normalizeHost(other)]
  if (a === b || a === '::' || b === '::') return true
  return (a === '0.0.0.0' && !b.includes(':')) || (b === '0.0.0.0' && !a.includes(':'))
}

/** Checks that the certificate of the listener can be used. */
export function reviewListen(review: ConfigReview): void {
  if (!review.hasValidShape(path)) return
  const { tls } = review.tree.listen
  if (!tls) return
  reviewTlsPair(review, path, tls)
  reviewCertificates(review, [...path, 'clientCa'], tls.clientCa)
}

/** Checks that publicUrl is an origin, and that trusted proxies are addresses or ranges. */
export function reviewNetwork(review: ConfigReview): void {
  review.check(['publicUrl'], () => originProblem(review.tree.publicUrl, 'https://api.example.com'))
  if (!review.hasValidShape(['trustedProxies'])) return
  for (const [index, range] of review.tree.trustedProxies.entries()) {
    review.check(['trustedProxies', index], () =>
      parseAddressRange(range)
        ? undefined
        : 'must be an address such as 10.0.0.1, or a range such as 10.0.0.0/8',
    )
  }
}

/** Checks that the collector's endpoint is a URL to which a path can be added. */
export function reviewTracing(review: ConfigReview): void {
  const { tracing } = review.tree
  reviewTraceHeaders(review)
  if (tracing) review.check(['tracing', 'otlp', 'endpoint'], () => endpointProblem(tracing.otlp.endpoint))
}

function endpointProblem(text: string): string | undefined {
  const url = URL.parse(text)
  if (!url || !['http:', 'https:'].includes(url.protocol))
    return 'must be a URL such as http://localhost:4318'
  if (url.username || url.password) return 'must not contain credentials'
  return url.search || url.hash ? 'must have no query or fragment: /v1/traces is added to it' : undefined
}

function reviewTraceHeaders(review: ConfigReview): void {
  const path = ['tracing', 'otlp', 'headers']
  const reference = review.isValid(path) ? review.tree.tracing?.otlp.headers : undefined
  if (!reference) return
  const text = review.secret(path, reference)
  if (text === undefined) return
  try {
    const pairs = parsePairs(text)
    if (Object.keys(pairs).length === 0) throw new TypeError('no pair')
    new Headers(pairs)
  } catch {
    review.report(path, 'must be header fields such as api-key=…,x-team=a')
  }
}
