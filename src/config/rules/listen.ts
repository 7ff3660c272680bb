import { normalizeHost, parseAddressRange } from '#platform/addresses.ts'
import { hostProblem } from '../addresses.ts'
import { parseCertificate, parsePrivateKey, tlsPairProblem } from '../certificate.ts'
import type { Review } from '../review.ts'
import { defaultOpsPort } from '../schema/listeners.ts'
import { originProblem } from './upstreams.ts'

const path = ['listen', 'tls']

/** Checks that each listener has a host that it can listen on. */
export function reviewHosts(review: Review): void {
  for (const section of ['listen', 'ops', 'decide'] as const) {
    const at = [section, 'host']
    const host = review.isValid(at) ? review.tree[section]?.host : undefined
    const problem = host === undefined ? undefined : hostProblem(host)
    if (problem !== undefined) review.report(at, problem)
  }
}

/** Checks that the ops listener has a different address: two listeners cannot share a port. */
export function reviewPorts(review: Review): void {
  const options = ['listen', 'ops'].flatMap((section) => ['host', 'port'].map((name) => [section, name]))
  if (!options.every(review.isValid)) return
  const { listen, ops } = review.tree
  if (ops.port === 0 || listen.port !== ops.port || !overlap(listen.host, ops.host)) return
  // Reported at the option that was changed from its default.
  const message = (other: string) => `conflicts with ${other}.port on the same address: choose another port`
  if (ops.port === defaultOpsPort) review.report(['listen', 'port'], message('ops'))
  else review.report(['ops', 'port'], message('listen'))
}

/** Checks the same of the listener for other proxies. */
export function reviewDecidePort(review: Review): void {
  const { decide } = review.tree
  if (!decide || !review.isValid(['decide']) || decide.port === 0) return
  for (const section of ['listen', 'ops'] as const) {
    if (!['host', 'port'].every((name) => review.isValid([section, name]))) continue
    const other = review.tree[section]
    if (other.port !== decide.port || !overlap(other.host, decide.host)) continue
    review.report(
      ['decide', 'port'],
      `conflicts with ${section}.port on the same address: choose another port`,
    )
  }
}

/** Whether two hosts are one address, or one of them is every address. */
function overlap(one: string, other: string): boolean {
  const [a, b] = [normalizeHost(one), normalizeHost(other)]
  if (a === b || a === '::' || b === '::') return true
  return (a === '0.0.0.0' && !b.includes(':')) || (b === '0.0.0.0' && !a.includes(':'))
}

/** Checks that `cert` is a certificate, and `key` the key that belongs to it. */
export function reviewListen(review: Review): void {
  if (!review.hasValidShape(path)) return
  const { tls } = review.tree.listen
  if (!tls) return
  const secret = (half: 'cert' | 'key') =>
    review.isValid([...path, half]) ? review.secret([...path, half], tls[half]) : undefined
  const cert = secret('cert')
  const key = secret('key')
  const certificate = cert === undefined ? undefined : parseCertificate(cert)
  const privateKey = key === undefined ? undefined : parsePrivateKey(key)
  if (cert !== undefined && !certificate) review.report([...path, 'cert'], certificateProblem(cert))
  if (key !== undefined && !privateKey) review.report([...path, 'key'], privateKeyProblem(key))
  if (cert === undefined || key === undefined || !certificate || !privateKey) return
  if (!certificate.checkPrivateKey(privateKey)) {
    review.report([...path, 'key'], 'is not the key of the certificate in listen.tls.cert')
    return
  }
  const problem = tlsPairProblem({ cert, key })
  if (problem !== undefined) review.report([...path, 'cert'], `cannot be used: ${problem}`)
}

function certificateProblem(pem: string): string {
  if (/PRIVATE KEY-----/.test(pem))
    return 'contains a private key, not a certificate: are cert and key swapped?'
  return 'contains no PEM certificate'
}

function privateKeyProblem(pem: string): string {
  if (/BEGIN CERTIFICATE-----/.test(pem))
    return 'contains a certificate, not its key: are cert and key swapped?'
  if (/ENCRYPTED/.test(pem))
    return 'is encrypted: give it without a passphrase, in a file that only the gateway reads'
  return 'contains no PEM private key'
}

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
