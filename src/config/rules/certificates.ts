import { parseCertificate, parsePrivateKey, tlsPairProblem } from '../certificate.ts'
import type { Path } from '../problem.ts'
import type { Review } from '../review.ts'
import type { SecretReference } from '../schema/node.ts'

/**
 * Checks that `cert` is a certificate, and `key` the key that belongs to it.
 * @param path of what has the two options
 */
export function reviewTlsPair(
  review: Review,
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
export function reviewCertificates(review: Review, path: Path, reference: SecretReference | undefined): void {
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
