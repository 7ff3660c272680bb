import { normalizeHost } from '#platform/addresses.ts'
import { hostProblem } from '../addresses.ts'
import { parseCertificate, parsePrivateKey, tlsPairProblem } from '../certificate.ts'
import type { Review } from '../review.ts'
import { defaultOpsPort } from '../schema/listeners.ts'

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
