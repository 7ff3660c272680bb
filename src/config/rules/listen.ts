import { pairComplaint, parseCertificate, parsePrivateKey } from '../certificate.ts'
import type { Review } from '../review.ts'

const path = ['listen', 'tls']

/** What clients are shown is a certificate, with the key that belongs to it. */
export function reviewListen(review: Review): void {
  if (!review.isShaped(path)) return
  const { tls } = review.tree.listen
  if (!tls) return
  const secret = (half: 'cert' | 'key') =>
    review.isSound([...path, half]) ? review.secret([...path, half], tls[half]) : undefined
  const cert = secret('cert')
  const key = secret('key')
  const certificate = cert === undefined ? undefined : parseCertificate(cert)
  const privateKey = key === undefined ? undefined : parsePrivateKey(key)
  if (cert !== undefined && !certificate) review.report([...path, 'cert'], 'holds no certificate in PEM form')
  if (key !== undefined && !privateKey) {
    review.report([...path, 'key'], 'holds no private key in PEM form that can be read without a passphrase')
  }
  if (cert === undefined || key === undefined || !certificate || !privateKey) return
  if (!certificate.checkPrivateKey(privateKey)) {
    review.report([...path, 'key'], 'is not the key of the certificate in listen.tls.cert')
    return
  }
  const complaint = pairComplaint({ cert, key })
  if (complaint !== undefined) review.report([...path, 'cert'], `cannot be used: ${complaint}`)
}
