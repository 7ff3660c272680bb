import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import type { EpochMs } from '#platform/time.ts'
import type { Path } from '../problem.ts'
import type { SecretReference } from './node.ts'
import type { Review } from './review.ts'

/**
 * Checks that `cert` is a certificate, and `key` the key that belongs to it.
 * @param path of the section that has both options
 */
export function reviewTlsPair(
  review: Review<unknown>,
  path: Path,
  pair: Record<'cert' | 'key', SecretReference>,
): void {
  const secret = (half: 'cert' | 'key') =>
    review.isValid([...path, half]) ? review.secret([...path, half], pair[half]) : undefined
  const cert = secret('cert')
  const key = secret('key')
  const certificate = cert === undefined ? undefined : parseCertificate(cert)
  const privateKey = key === undefined ? undefined : parsePrivateKey(key)
  if (cert !== undefined && !certificate) review.report([...path, 'cert'], certificateProblem(cert))
  if (key !== undefined && !privateKey) review.report([...path, 'key'], privateKeyProblem(key))
  if (cert === undefined || key === undefined || !certificate || !privateKey) return
  if (!certificate.checkPrivateKey(privateKey)) {
    review.report([...path, 'key'], `is not the key of the certificate in ${path.join('.')}.cert`)
    return
  }
  const problem = tlsPairProblem({ cert, key })
  if (problem !== undefined) review.report([...path, 'cert'], `cannot be used: ${problem}`)
}

/** Reports certificates that cannot be read as PEM. */
export function reviewCertificates(
  review: Review<unknown>,
  path: Path,
  reference: SecretReference | undefined,
): void {
  if (reference === undefined) return
  review.check(path, () => {
    const pem = review.secret(path, reference)
    return pem === undefined || parseCertificate(pem) ? undefined : noCertificate
  })
}

const noCertificate = 'contains no PEM certificate'

function certificateProblem(pem: string): string {
  if (/PRIVATE KEY-----/.test(pem))
    return 'contains a private key, not a certificate: are cert and key swapped?'
  return noCertificate
}

function privateKeyProblem(pem: string): string {
  if (/BEGIN CERTIFICATE-----/.test(pem))
    return 'contains a certificate, not its key: are cert and key swapped?'
  if (/ENCRYPTED/.test(pem))
    return 'is encrypted: give it without a passphrase, in a file that only the gateway reads'
  return 'contains no PEM private key'
}

/** The first certificate in a PEM text, which is the one that is used; undefined if there is none. */
function parseCertificate(pem: string): X509Certificate | undefined {
  return tryParse(() => new X509Certificate(pem))
}

/** A private key from PEM; undefined if the text is not a key, or is encrypted. */
function parsePrivateKey(pem: string): KeyObject | undefined {
  return tryParse(() => createPrivateKey(pem))
}

/** Why TLS cannot use a certificate with its key; undefined if it can. */
function tlsPairProblem(pair: { readonly cert: string; readonly key: string }): string | undefined {
  try {
    createSecureContext(pair)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** Why clients will reject a certificate because of its dates; undefined = they will not. */
export function validityProblem(pem: string, now: EpochMs): string | undefined {
  const certificate = parseCertificate(pem)
  if (!certificate) return undefined
  const { validFromDate, validToDate } = certificate
  if (now > validToDate.getTime()) return `the certificate has expired: ${certificate.validTo}`
  if (now < validFromDate.getTime()) return `the certificate is not valid before ${certificate.validFrom}`
  return undefined
}

function tryParse<Value>(parse: () => Value): Value | undefined {
  try {
    return parse()
  } catch {
    return undefined
  }
}
